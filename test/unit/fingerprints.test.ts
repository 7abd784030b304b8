// Service fingerprints for the bytes of real programs, for fragments, and for garbage.

import { describe, expect, test } from "bun:test";
import { FINGERPRINTS } from "../../src/discovery/fingerprints/catalog.ts";
import type { Fingerprint, Reading } from "../../src/discovery/fingerprints/fingerprint.ts";
import { htmlTitle } from "../../src/discovery/fingerprints/html-title.ts";
import { identified, oneLine } from "../../src/discovery/fingerprints/service-text.ts";
import { SERVICE_DEFINITION_MAX_LENGTH } from "../../src/resources/services/service.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { processorMs } from "../support/measure/processor-time.ts";

function fingerprintNamed(name: string): Fingerprint {
  const match = FINGERPRINTS.find((fingerprint) => fingerprint.name === name);
  if (!match) throw new Error(`there is no fingerprint ${name}`);
  return match;
}

function bytesOf(text: string | Uint8Array): Uint8Array {
  return typeof text === "string" ? Uint8Array.from(text, (character) => character.charCodeAt(0)) : text;
}

function read(name: string, text: string | Uint8Array, options: { port?: number; isComplete?: boolean } = {}): Reading {
  const fingerprint = fingerprintNamed(name);
  const { port = fingerprint.ports[0] ?? 0, isComplete = false } = options;
  return fingerprint.read({ bytes: bytesOf(text), isComplete, port });
}

function http(body: string, headers: string[] = [], status = "200 OK"): string {
  return [`HTTP/1.1 ${status}`, ...headers, `Content-Length: ${body.length}`, "", body].join("\r\n");
}

function mysqlPacket(payload: string): string {
  return `${String.fromCharCode(payload.length & 0xff, payload.length >>> 8)}\0\0${payload}`;
}

function mongoReply(wireVersion: number): Uint8Array {
  const names = Buffer.from("\0\0\0\0\0\0\0\0\0\x08isWritablePrimary\0\x01\x10maxWireVersion\0");
  const body = Buffer.concat([names, Buffer.of(wireVersion, 0, 0, 0, 0)]);
  const header = Buffer.alloc(16);
  header.writeUInt32LE(16 + body.length, 0);
  header.writeUInt32LE(0x6e6c, 8);
  header.writeUInt32LE(2013, 12);
  return Buffer.concat([header, body]);
}

function dnsReply(text: string): Uint8Array {
  const request = fingerprintNamed("dns").request?.({ host: "192.0.2.1" }) ?? new Uint8Array();
  const record = Buffer.of(0xc0, 12, 0, 16, 0, 3, 0, 0, 0, 0, 0, text.length + 1, text.length);
  const message = Buffer.concat([request.slice(2), record, Buffer.from(text)]);
  message[2] = 0x85;
  message[7] = 1;
  return Buffer.concat([Buffer.from([0, message.length]), message]);
}

const PRELOGIN_2019 = Buffer.from(
  "0401002b0000010000001a000601002000010200210001030022000004002200 01ff0f0007d0000002000000".replaceAll(" ", ""),
  "hex",
);
const AMQP_METHOD =
  "\0\x0a\0\x0a\0\x09\0\0\0\x32\x07productS\0\0\0\x08RabbitMQ\x07versionS\0\0\0\x063.12.1\x08platformS\0\0\0\x06Erlang";
const AMQP_START = `\x01\0\0\0\0\0${String.fromCharCode(AMQP_METHOD.length)}${AMQP_METHOD}\xce`;

/** Received bytes → name, and the service definition if its name differs from the fingerprint's. */
const RESPONSES: readonly (readonly [
  fingerprint: string,
  response: string | Uint8Array,
  name: string,
  definition?: string,
])[] = [
  ["ssh", "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u1\r\n", "OpenSSH 9.2p1"],
  ["ssh", "SSH-2.0-dropbear_2022.83\r\n", "dropbear 2022.83"],
  ["ssh", "SSH-1.99-Cisco-1.25\n", "Cisco 1.25"],
  ["ssh", "SSH-2.0-ROSSSH\r\n", "ROSSSH"],
  // UTF-8 bytes: manufacturers put their names where the protocol has ASCII.
  ["ssh", "SSH-2.0-\xc3\x9cberwacher_1.2\r\n", "Überwacher 1.2"],
  ["http", http("", ['WWW-Authenticate: Basic realm="Ger\xc3\xa4teverwaltung"'], "401 No"), "Geräteverwaltung"],
  ["http", http("", ["Server: \xe8\xb7\xaf\xe7\x94\xb1\xe5\x99\xa8/2.0"], "404 No"), "路由器/2.0"],
  ["http", http("", ["Server: Ger\xe4t/1"], "404 No"), "Gerät 1"],
  ["ssh", "Authorized use only.\r\nGo away.\r\nSSH-2.0-libssh_0.9.6\r\n", "libssh 0.9.6"],
  ["ftp", "220 (vsFTPd 3.0.3)\r\n", "vsftpd 3.0.3"],
  ["ftp", "220 ProFTPD Server (Debian) [::ffff:192.0.2.7]\r\n", "ProFTPD"],
  [
    "ftp",
    "220---------- Welcome to Pure-FTPd [privsep] [TLS] ----------\r\n220-You are user number 1 of 50 allowed.\r\n220-Local time is now 14:20. Server port: 21.\r\n220 You will be disconnected after 15 minutes of inactivity.\r\n",
    "Pure-FTPd",
  ],
  ["ftp", "421 Too many connections from your address.\r\n", "FTP"],
  ["smtp", "220 mail.example.org ESMTP Postfix (Debian/GNU)\r\n", "Postfix"],
  ["smtp", "220 mx ESMTP Exim 4.96 Tue, 21 Nov 2023 10:00:00 +0000\r\n", "Exim 4.96"],
  ["smtp", "220 secret\r\n", "SMTP"],
  ["smtps", "220 mail.example.org ESMTP Postfix\r\n", "Postfix", "submissions"],
  ["pop3", "+OK Dovecot (Debian) ready. <1896.697170952@mail.example.org>\r\n", "Dovecot"],
  ["pop3s", "+OK <4f1a2b3c@mail.example.org>\r\n", "POP3 over TLS"],
  ["imap", "* OK [CAPABILITY IMAP4rev1 SASL-IR LOGIN-REFERRALS ID ENABLE IDLE] Dovecot (Debian) ready.\r\n", "Dovecot"],
  ["imaps", "* OK IMAP4rev1 ready\r\n", "IMAP over TLS"],
  ["telnet", "\xff\xfd\x18\xff\xfd\x20\xff\xfb\x01Debian GNU/Linux 12\r\nlab login: ", "Telnet: Debian GNU/Linux 12"],
  ["telnet", "\r\n\r\nUser Access Verification\r\n\r\nUsername: ", "Telnet: User Access Verification"],
  ["vnc", "RFB 003.008\n", "VNC (RFB 3.8)", "rfb"],
  ["rsync", "@RSYNCD: 31.0 sha512 sha256 sha1 md5 md4\n", "rsync (protocol 31.0)"],
  ["nats", 'INFO {"server_id":"NB4","server_name":"n1","version":"2.10.7","proto":1} \r\n', "NATS 2.10.7"],
  ["mysql", mysqlPacket("\x0a8.0.36-0ubuntu0.22.04.1\0\x08\0\0\0abcdefgh\0"), "MySQL 8.0.36"],
  ["mysql", mysqlPacket("\x0a5.5.5-10.11.6-MariaDB-0+deb12u1\0\x08\0\0\0abcdefgh\0"), "MariaDB 10.11.6"],
  ["mysql", mysqlPacket("\x0a11.4.2-MariaDB\0\x08\0\0\0abcdefgh\0"), "MariaDB 11.4.2"],
  ["mysql", mysqlPacket("\xff\x6a\x04Host '192.0.2.9' is not allowed to connect to this MariaDB server"), "MariaDB"],
  ["postgresql", "S", "PostgreSQL"],
  ["postgresql", "N", "PostgreSQL"],
  ["redis", "+PONG\r\n$41\r\n# Server\r\nredis_version:7.0.15\r\nredis_git:0\r\n", "Redis 7.0.15"],
  ["redis", "+PONG\r\n$59\r\n# Server\r\nredis_version:7.2.4\r\nvalkey_version:8.0.1\r\nos:Linux\r\n", "Valkey 8.0.1"],
  ["redis", "-NOAUTH Authentication required.\r\n-NOAUTH Authentication required.\r\n", "Redis"],
  ["redis", "-DENIED Redis is running in protected mode because ...\r\n", "Redis"],
  ["memcached", "VERSION 1.6.18\r\n", "memcached 1.6.18", "memcache"],
  ["mongodb", mongoReply(21), "MongoDB 7.0"],
  ["mongodb", mongoReply(2), "MongoDB"],
  ["mssql", PRELOGIN_2019, "Microsoft SQL Server 2019 (15.0.2000)", "ms-sql-s"],
  ["rdp", Uint8Array.of(3, 0, 0, 19, 14, 0xd0, 0, 0, 0x12, 0x34, 0, 2, 0x1f, 8, 0, 2, 0, 0, 0), "RDP", "ms-wbt-server"],
  ["amqp", AMQP_START, "RabbitMQ 3.12.1"],
  ["amqp", "AMQP\x03\x01\0\0", "AMQP 1.0"],
  ["dns", dnsReply("9.18.24-1-Debian"), "BIND 9.18.24-1-Debian", "domain"],
  ["dns", dnsReply("unbound 1.17.1"), "unbound 1.17.1", "domain"],
  [
    "rtsp",
    "RTSP/1.0 200 OK\r\nCSeq: 1\r\nServer: GStreamer RTSP server\r\nPublic: OPTIONS, DESCRIBE\r\n\r\n",
    "GStreamer RTSP server",
  ],
  ["docker", http('{"Version":"24.0.5","ApiVersion":"1.43","Os":"linux"}'), "Docker 24.0.5"],
  [
    "elasticsearch",
    http('{"name":"n","version":{"number":"8.11.1"},"tagline":"You Know, for Search"}'),
    "Elasticsearch 8.11.1",
  ],
  [
    "elasticsearch",
    http('{"version":{"distribution":"opensearch","number":"2.11.0"},"tagline":"The OpenSearch Project"}'),
    "OpenSearch 2.11.0",
  ],
  ["couchdb", http('{"couchdb":"Welcome","version":"3.3.2"}'), "CouchDB 3.3.2"],
  ["influxdb", "HTTP/1.1 204 No Content\r\nX-Influxdb-Version: v2.7.1\r\nContent-Length: 0\r\n\r\n", "InfluxDB v2.7.1"],
  ["prometheus", http('{"status":"success","data":{"version":"2.48.0","goVersion":"go1.21"}}'), "Prometheus 2.48.0"],
  ["etcd", http('{"etcdserver":"3.5.9","etcdcluster":"3.5.0"}'), "etcd 3.5.9", "etcd-client"],
  ["kubernetes", http('{"major":"1","gitVersion":"v1.28.3"}'), "Kubernetes v1.28.3"],
  ["kubernetes", http('{"kind":"Status","apiVersion":"v1","code":403}', [], "403 Forbidden"), "Kubernetes"],
  [
    "http",
    http("<html><head><title>Welcome to nginx!</title></head></html>", ["Server: nginx/1.22.1"]),
    "nginx 1.22.1: Welcome to nginx!",
  ],
  ["http", http("<html><title lang=de>\n  R&auml;ume &amp; &#84;&#x75;ren </title>"), "R&auml;ume & Turen"],
  [
    "http",
    http("", ["Server: Apache/2.4.57 (Debian)", "Location: https://x/"], "301 Moved Permanently"),
    "Apache 2.4.57 (Debian)",
  ],
  [
    "http",
    http("<title>401 Unauthorized</title>", ['WWW-Authenticate: Basic realm="Printer 4711"'], "401 Unauthorized"),
    "Printer 4711",
  ],
  ["http", http("no page"), "HTTP"],
  ["https", http("<title>Login</title>", ["server: lighttpd/1.4.69"]), "lighttpd 1.4.69: Login"],
  [
    "http",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n<title>\r\n8\r\nChunky</\r\n6\r\ntitle>\r\n0\r\n\r\n",
    "Chunky",
  ],
];

describe("each fingerprint", () => {
  test.each(RESPONSES)("%s identifies %p as %s", (fingerprint, response, name, definition = fingerprint) => {
    expect(read(fingerprint, response)).toEqual({ name, service_definition: definition });
  });

  test("has a unique name and is tried on real ports", () => {
    expect(new Set(FINGERPRINTS.map(({ name }) => name)).size).toBe(FINGERPRINTS.length);
    const isPort = (port: number) => Number.isInteger(port) && port > 0 && port < 65_536;
    expect(FINGERPRINTS.flatMap(({ ports }) => ports).every(isPort)).toBe(true);
    expect(FINGERPRINTS.every(({ name }) => RESPONSES.some(([tested]) => tested === name))).toBe(true);
  });

  test("sends short requests, and none to printers", () => {
    const requests = FINGERPRINTS.flatMap(({ request }) => (request ? [request({ host: "[fd00::1]" })] : []));
    expect(requests.length).toBeGreaterThan(10);
    expect(requests.every(({ length }) => length > 0 && length < 200)).toBe(true);
    expect(FINGERPRINTS.filter(({ ports, request }) => request !== null && ports.includes(9100))).toEqual([]);
  });

  test("waits for the rest of an incomplete response, and never mistakes its start for another service", () => {
    for (const [fingerprint, response, name, definition = fingerprint] of RESPONSES) {
      const bytes = bytesOf(response);
      for (let length = 0; length < bytes.length; length += 1) {
        const reading = read(fingerprint, bytes.subarray(0, length));
        const isSettled = typeof reading === "object";
        // Redis refuses, and HTTP sends its server header, before the response is complete.
        if (isSettled) expect(reading).toEqual({ name, service_definition: definition });
        else expect({ fingerprint, length, reading }).toEqual({ fingerprint, length, reading: "More" });
      }
    }
  });

  test("settles at the end of a response truncated anywhere, with a valid name", () => {
    for (const [fingerprint, response] of RESPONSES) {
      const bytes = bytesOf(response);
      for (let length = 0; length <= bytes.length; length += 1)
        expectSettled(read(fingerprint, bytes.subarray(0, length), { isComplete: true }));
    }
  });

  test("settles on garbage and damaged responses without an error, and identifies nothing in an empty one", () => {
    const random = seededRandom(20_261_121);
    for (const { name, read: readBytes, ports } of FINGERPRINTS) {
      for (let round = 0; round < 400; round += 1) {
        const [, response] = random.pick(RESPONSES);
        const bytes = round % 2 === 0 ? random.bytes(random.integer(200)) : damage(bytesOf(response), random);
        const port = round % 3 === 0 ? 4_711 : (ports[0] ?? 0);
        expectSettled(readBytes({ bytes, isComplete: true, port }));
        expect(["object", "string"]).toContain(typeof readBytes({ bytes, isComplete: false, port }));
      }
      const reading = readBytes({ bytes: new Uint8Array(), isComplete: true, port: ports[0] ?? 0 });
      expect({ name, reading }).toEqual({ name, reading: "Other" });
    }
  });

  test("omits values that vary between connections", () => {
    const readUptime = (values: string) => read("telnet", `\xff\xfb\x01Uptime since 2026-11-${values}\r\nlogin: `);
    const first = readUptime("21 10:00:01, session 0123456789abcdef01 <a.b@c>");
    expect(first).toEqual(readUptime("22 11:22:33, session fedcba987654321001 <x.y@z>"));
  });
});

describe("similar services", () => {
  test("a mail server on the FTP port and an FTP server on the mail port are identified correctly", () => {
    const postfix = "220 mx.example.org ESMTP Postfix\r\n";
    expect(read("ftp", postfix, { port: 21 })).toBe("Other");
    expect(read("smtp", postfix, { port: 21 })).toEqual({ name: "Postfix", service_definition: "smtp" });
    expect(read("smtp", "220 (vsFTPd 3.0.3)\r\n", { port: 25 })).toBe("Other");
    expect(read("smtp", "220 something\r\n", { port: 4_711 })).toBe("Other");
  });

  test("submission and relay, printing and browsing are distinguished by port despite a shared protocol", () => {
    const cups = http("<title>Home - CUPS 2.4.2</title>", ["Server: CUPS/2.4 IPP/2.1"]);
    for (const [fingerprint, text, port, name, definition] of [
      ["smtp", "220 mx ESMTP Postfix\r\n", 587, "Postfix", "submission"],
      ["http", cups, 631, "CUPS 2.4 IPP 2.1: Home - CUPS 2.4.2", "ipp"],
      ["http", http("<title>x</title>"), 8080, "x", "http-alt"],
      ["http", http("<title>Cockpit</title>"), 9090, "Cockpit", "http"],
    ] as const)
      expect(read(fingerprint, text, { port })).toEqual({ name, service_definition: definition });
  });

  test("a server that requires TLS is left to HTTPS", () => {
    const title = "<title>400 The plain HTTP request was sent to HTTPS port</title>";
    expect(read("http", http(title, ["Server: nginx"], "400 Bad Request"), { port: 8080 })).toBe("Other");
    expect(read("http", "\x15\x03\x01\0\x02\x02\x46", { port: 8080 })).toBe("Other");
  });

  test("another protocol that starts with PostgreSQL's letter is not PostgreSQL", () => {
    expect(read("postgresql", "SSH-2.0-OpenSSH_9.2p1\r\n")).toBe("Other");
    expect(read("postgresql", "E", { isComplete: true })).toBe("Other");
  });

  test("another service on Prometheus's port is not Prometheus", () => {
    expect(read("prometheus", http("<title>Cockpit</title>"))).toBe("Other");
    expect(read("prometheus", http('{"status":"success","data":[1]}'))).toBe("Other");
  });
});

describe("device text", () => {
  test("becomes one line without control, direction and surrogate characters", () => {
    expect(oneLine("a\0b\r\n\tc\u202ed\u200be  f\u00a0g\ud800h", 100)).toBe("a b c d e f g h");
    expect(oneLine(`${"x".repeat(99)}😀`, 100)).toBe("x".repeat(99));
    expect(oneLine("y".repeat(200), 100)).toHaveLength(100);
  });

  test("is replaced by the service's name if it becomes empty", () => {
    for (const text of [" \0\n ", "\u3164\u2800\u115f\uffa0", "\u200b\ufe0f"])
      expect(identified(text, "ssh")).toEqual({ name: "ssh", service_definition: "ssh" });
  });

  test("is processed quickly at 16 KiB, regardless of its content", async () => {
    const dots = `<${".".repeat(16_000)}`;
    const texts = [dots, "<".repeat(8_000) + "@".repeat(8_000), "1a".repeat(8_000), `Mon ${" ".repeat(16_000)}`];
    const elapsedMs = await processorMs(() => {
      for (let times = 0; times < 100; times += 1) for (const text of texts) identified(text, "ssh");
    });
    // A full scan of each would take a tenth of a second and block the scanner.
    expect(elapsedMs).toBeLessThan(2_000);
  });

  test("is decoded in the page's declared charset", () => {
    expect(htmlTitle(Buffer.from("<title>Büro</title>", "latin1"), "text/html; charset=iso-8859-1")).toBe("Büro");
    expect(htmlTitle(Buffer.from("<title>Büro</title>", "utf8"), "text/html; charset=utf-8")).toBe("Büro");
    expect(htmlTitle(Buffer.from("<title>Büro</title>", "latin1"), "text/html; charset=no-such-thing")).toBe("Büro");
    expect(htmlTitle(Buffer.from("<title>Bür"), "text/html")).toBeNull();
  });
});

function expectSettled(reading: Reading): void {
  if (typeof reading === "string") return expect(reading).toBe("Other");
  expect(reading.name).toBe(oneLine(reading.name, 100));
  expect(reading.name.length).toBeGreaterThan(0);
  expect(reading.service_definition.length).toBeGreaterThan(0);
  expect(reading.service_definition.length).toBeLessThanOrEqual(SERVICE_DEFINITION_MAX_LENGTH);
}

function damage(bytes: Uint8Array, random: ReturnType<typeof seededRandom>): Uint8Array {
  const copy = Uint8Array.from(bytes);
  for (let count = 0; count < 4 && copy.length > 0; count += 1) copy[random.integer(copy.length)] = random.integer(256);
  return copy.subarray(0, random.integer(copy.length + 1));
}
