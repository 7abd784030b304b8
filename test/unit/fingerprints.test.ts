// Service fingerprints from the bytes of real programs, from fragments, and from garbage.

import { describe, expect, test } from "bun:test";
import { FINGERPRINTS } from "../../src/discovery/fingerprints/catalog.ts";
import type { Fingerprint, Reading } from "../../src/discovery/fingerprints/fingerprint.ts";
import { htmlTitle } from "../../src/discovery/fingerprints/html-title.ts";
import { identified, oneLine } from "../../src/discovery/fingerprints/service-text.ts";
import { SERVICE_DEFINITION_MAX_LENGTH } from "../../src/resources/services/service.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { processorMs } from "../support/measure/processor-time.ts";

function named(name: string): Fingerprint {
  const found = FINGERPRINTS.find((each) => each.name === name);
  if (!found) throw new Error(`there is no fingerprint ${name}`);
  return found;
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function read(name: string, text: string | Uint8Array, options: { port?: number; isWhole?: boolean } = {}): Reading {
  const fingerprint = named(name);
  const bytes = typeof text === "string" ? bytesOf(text) : text;
  return fingerprint.read({
    bytes,
    isWhole: options.isWhole ?? false,
    port: options.port ?? fingerprint.ports[0] ?? 0,
  });
}

function http(body: string, headers: string[] = [], status = "200 OK"): string {
  return [`HTTP/1.1 ${status}`, ...headers, `Content-Length: ${body.length}`, "", body].join("\r\n");
}

function mysqlPacket(payload: string): string {
  return `${String.fromCharCode(payload.length & 0xff, payload.length >>> 8)}\0\0${payload}`;
}

function mongoReply(wireVersion: number): Uint8Array {
  const body = Buffer.concat([
    Buffer.from("\0\0\0\0\0"),
    Buffer.from("\0\0\0\0\x08isWritablePrimary\0\x01\x10maxWireVersion\0"),
    Buffer.from([wireVersion, 0, 0, 0]),
    Buffer.from("\0"),
  ]);
  const header = Buffer.alloc(16);
  header.writeUInt32LE(16 + body.length, 0);
  header.writeUInt32LE(0x6e6c, 8);
  header.writeUInt32LE(2013, 12);
  return Buffer.concat([header, body]);
}

function dnsReply(text: string): Uint8Array {
  const request = named("dns").request?.({ host: "192.0.2.1" }) ?? new Uint8Array();
  const answer = Buffer.concat([
    Buffer.from([0xc0, 12, 0, 16, 0, 3, 0, 0, 0, 0, 0, text.length + 1, text.length]),
    Buffer.from(text),
  ]);
  const message = Buffer.concat([request.slice(2), answer]);
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

/** Received bytes → name and service definition. */
const ANSWERS: readonly (readonly [
  fingerprint: string,
  answer: string | Uint8Array,
  name: string,
  definition: string,
])[] = [
  ["ssh", "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u1\r\n", "OpenSSH 9.2p1", "ssh"],
  ["ssh", "SSH-2.0-dropbear_2022.83\r\n", "dropbear 2022.83", "ssh"],
  ["ssh", "SSH-1.99-Cisco-1.25\n", "Cisco 1.25", "ssh"],
  ["ssh", "SSH-2.0-ROSSSH\r\n", "ROSSSH", "ssh"],
  // UTF-8 bytes: manufacturers put their names where the protocol has ASCII.
  ["ssh", "SSH-2.0-\xc3\x9cberwacher_1.2\r\n", "Überwacher 1.2", "ssh"],
  ["http", http("", ['WWW-Authenticate: Basic realm="Ger\xc3\xa4teverwaltung"'], "401 No"), "Geräteverwaltung", "http"],
  ["http", http("", ["Server: \xe8\xb7\xaf\xe7\x94\xb1\xe5\x99\xa8/2.0"], "404 No"), "路由器/2.0", "http"],
  ["http", http("", ["Server: Ger\xe4t/1"], "404 No"), "Gerät 1", "http"],
  ["ssh", "Authorized use only.\r\nGo away.\r\nSSH-2.0-libssh_0.9.6\r\n", "libssh 0.9.6", "ssh"],
  ["ftp", "220 (vsFTPd 3.0.3)\r\n", "vsftpd 3.0.3", "ftp"],
  ["ftp", "220 ProFTPD Server (Debian) [::ffff:192.0.2.7]\r\n", "ProFTPD", "ftp"],
  [
    "ftp",
    "220---------- Welcome to Pure-FTPd [privsep] [TLS] ----------\r\n220-You are user number 1 of 50 allowed.\r\n220-Local time is now 14:20. Server port: 21.\r\n220 You will be disconnected after 15 minutes of inactivity.\r\n",
    "Pure-FTPd",
    "ftp",
  ],
  ["ftp", "421 Too many connections from your address.\r\n", "FTP", "ftp"],
  ["smtp", "220 mail.example.org ESMTP Postfix (Debian/GNU)\r\n", "Postfix", "smtp"],
  ["smtp", "220 mx ESMTP Exim 4.96 Tue, 21 Nov 2023 10:00:00 +0000\r\n", "Exim 4.96", "smtp"],
  ["smtp", "220 secret\r\n", "SMTP", "smtp"],
  ["smtps", "220 mail.example.org ESMTP Postfix\r\n", "Postfix", "submissions"],
  ["pop3", "+OK Dovecot (Debian) ready. <1896.697170952@mail.example.org>\r\n", "Dovecot", "pop3"],
  ["pop3s", "+OK <4f1a2b3c@mail.example.org>\r\n", "POP3 over TLS", "pop3s"],
  [
    "imap",
    "* OK [CAPABILITY IMAP4rev1 SASL-IR LOGIN-REFERRALS ID ENABLE IDLE] Dovecot (Debian) ready.\r\n",
    "Dovecot",
    "imap",
  ],
  ["imaps", "* OK IMAP4rev1 ready\r\n", "IMAP over TLS", "imaps"],
  [
    "telnet",
    "\xff\xfd\x18\xff\xfd\x20\xff\xfb\x01Debian GNU/Linux 12\r\nlab login: ",
    "Telnet: Debian GNU/Linux 12",
    "telnet",
  ],
  ["telnet", "\r\n\r\nUser Access Verification\r\n\r\nUsername: ", "Telnet: User Access Verification", "telnet"],
  ["vnc", "RFB 003.008\n", "VNC (RFB 3.8)", "rfb"],
  ["rsync", "@RSYNCD: 31.0 sha512 sha256 sha1 md5 md4\n", "rsync (protocol 31.0)", "rsync"],
  ["nats", 'INFO {"server_id":"NB4","server_name":"n1","version":"2.10.7","proto":1} \r\n', "NATS 2.10.7", "nats"],
  ["mysql", mysqlPacket("\x0a8.0.36-0ubuntu0.22.04.1\0\x08\0\0\0abcdefgh\0"), "MySQL 8.0.36", "mysql"],
  ["mysql", mysqlPacket("\x0a5.5.5-10.11.6-MariaDB-0+deb12u1\0\x08\0\0\0abcdefgh\0"), "MariaDB 10.11.6", "mysql"],
  ["mysql", mysqlPacket("\x0a11.4.2-MariaDB\0\x08\0\0\0abcdefgh\0"), "MariaDB 11.4.2", "mysql"],
  [
    "mysql",
    mysqlPacket("\xff\x6a\x04Host '192.0.2.9' is not allowed to connect to this MariaDB server"),
    "MariaDB",
    "mysql",
  ],
  ["postgresql", "S", "PostgreSQL", "postgresql"],
  ["postgresql", "N", "PostgreSQL", "postgresql"],
  ["redis", "+PONG\r\n$41\r\n# Server\r\nredis_version:7.0.15\r\nredis_git:0\r\n", "Redis 7.0.15", "redis"],
  [
    "redis",
    "+PONG\r\n$59\r\n# Server\r\nredis_version:7.2.4\r\nvalkey_version:8.0.1\r\nos:Linux\r\n",
    "Valkey 8.0.1",
    "redis",
  ],
  ["redis", "-NOAUTH Authentication required.\r\n-NOAUTH Authentication required.\r\n", "Redis", "redis"],
  ["redis", "-DENIED Redis is running in protected mode because ...\r\n", "Redis", "redis"],
  ["memcached", "VERSION 1.6.18\r\n", "memcached 1.6.18", "memcache"],
  ["mongodb", mongoReply(21), "MongoDB 7.0", "mongodb"],
  ["mongodb", mongoReply(2), "MongoDB", "mongodb"],
  ["mssql", PRELOGIN_2019, "Microsoft SQL Server 2019 (15.0.2000)", "ms-sql-s"],
  ["rdp", Uint8Array.of(3, 0, 0, 19, 14, 0xd0, 0, 0, 0x12, 0x34, 0, 2, 0x1f, 8, 0, 2, 0, 0, 0), "RDP", "ms-wbt-server"],
  ["amqp", AMQP_START, "RabbitMQ 3.12.1", "amqp"],
  ["amqp", "AMQP\x03\x01\0\0", "AMQP 1.0", "amqp"],
  ["dns", dnsReply("9.18.24-1-Debian"), "BIND 9.18.24-1-Debian", "domain"],
  ["dns", dnsReply("unbound 1.17.1"), "unbound 1.17.1", "domain"],
  [
    "rtsp",
    "RTSP/1.0 200 OK\r\nCSeq: 1\r\nServer: GStreamer RTSP server\r\nPublic: OPTIONS, DESCRIBE\r\n\r\n",
    "GStreamer RTSP server",
    "rtsp",
  ],
  ["docker", http('{"Version":"24.0.5","ApiVersion":"1.43","Os":"linux"}'), "Docker 24.0.5", "docker"],
  [
    "elasticsearch",
    http('{"name":"n","version":{"number":"8.11.1"},"tagline":"You Know, for Search"}'),
    "Elasticsearch 8.11.1",
    "elasticsearch",
  ],
  [
    "elasticsearch",
    http('{"version":{"distribution":"opensearch","number":"2.11.0"},"tagline":"The OpenSearch Project"}'),
    "OpenSearch 2.11.0",
    "elasticsearch",
  ],
  ["couchdb", http('{"couchdb":"Welcome","version":"3.3.2"}'), "CouchDB 3.3.2", "couchdb"],
  [
    "influxdb",
    "HTTP/1.1 204 No Content\r\nX-Influxdb-Version: v2.7.1\r\nContent-Length: 0\r\n\r\n",
    "InfluxDB v2.7.1",
    "influxdb",
  ],
  [
    "prometheus",
    http('{"status":"success","data":{"version":"2.48.0","goVersion":"go1.21"}}'),
    "Prometheus 2.48.0",
    "prometheus",
  ],
  ["etcd", http('{"etcdserver":"3.5.9","etcdcluster":"3.5.0"}'), "etcd 3.5.9", "etcd-client"],
  ["kubernetes", http('{"major":"1","gitVersion":"v1.28.3"}'), "Kubernetes v1.28.3", "kubernetes"],
  [
    "kubernetes",
    http('{"kind":"Status","apiVersion":"v1","code":403}', [], "403 Forbidden"),
    "Kubernetes",
    "kubernetes",
  ],
  [
    "http",
    http("<html><head><title>Welcome to nginx!</title></head></html>", ["Server: nginx/1.22.1"]),
    "nginx 1.22.1: Welcome to nginx!",
    "http",
  ],
  ["http", http("<html><title lang=de>\n  R&auml;ume &amp; &#84;&#x75;ren </title>"), "R&auml;ume & Turen", "http"],
  [
    "http",
    http("", ["Server: Apache/2.4.57 (Debian)", "Location: https://x/"], "301 Moved Permanently"),
    "Apache 2.4.57 (Debian)",
    "http",
  ],
  [
    "http",
    http("<title>401 Unauthorized</title>", ['WWW-Authenticate: Basic realm="Printer 4711"'], "401 Unauthorized"),
    "Printer 4711",
    "http",
  ],
  ["http", http("no page"), "HTTP", "http"],
  ["https", http("<title>Login</title>", ["server: lighttpd/1.4.69"]), "lighttpd 1.4.69: Login", "https"],
  [
    "http",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n<title>\r\n8\r\nChunky</\r\n6\r\ntitle>\r\n0\r\n\r\n",
    "Chunky",
    "http",
  ],
];

describe("each fingerprint", () => {
  test.each(ANSWERS)("%s identifies %p as %s", (fingerprint, answer, name, definition) => {
    expect(read(fingerprint, answer)).toEqual({ name, service_definition: definition });
  });

  test("has a unique name and is tried on real ports", () => {
    expect(new Set(FINGERPRINTS.map(({ name }) => name)).size).toBe(FINGERPRINTS.length);
    expect(
      FINGERPRINTS.flatMap(({ ports }) => ports).every((port) => Number.isInteger(port) && port > 0 && port < 65_536),
    ).toBe(true);
    expect(FINGERPRINTS.every(({ name }) => ANSWERS.some(([tested]) => tested === name))).toBe(true);
  });

  test("sends little, and nothing to a printer", () => {
    const requests = FINGERPRINTS.flatMap(({ request }) => (request ? [request({ host: "[fd00::1]" })] : []));
    expect(requests.length).toBeGreaterThan(10);
    expect(requests.every(({ length }) => length > 0 && length < 200)).toBe(true);
    expect(FINGERPRINTS.filter(({ ports, request }) => request !== null && ports.includes(9100))).toEqual([]);
  });

  test("waits for the rest of an incomplete answer, and never takes its start for another service", () => {
    for (const [fingerprint, answer, name, definition] of ANSWERS) {
      const bytes = typeof answer === "string" ? bytesOf(answer) : answer;
      for (let length = 0; length < bytes.length; length += 1) {
        const reading = read(fingerprint, bytes.subarray(0, length));
        const isSettled = typeof reading === "object";
        // Redis refuses, and HTTP sends its server header, before the answer is complete.
        if (isSettled) expect(reading).toEqual({ name, service_definition: definition });
        else expect({ fingerprint, length, reading }).toEqual({ fingerprint, length, reading: "More" });
      }
    }
  });

  test("settles once an answer has ended, wherever truncated, with a valid name", () => {
    for (const [fingerprint, answer] of ANSWERS) {
      const bytes = typeof answer === "string" ? bytesOf(answer) : answer;
      for (let length = 0; length <= bytes.length; length += 1)
        expectSettled(read(fingerprint, bytes.subarray(0, length), { isWhole: true }));
    }
  });

  test("settles on garbage and damaged answers without an error, and identifies nothing in an empty one", () => {
    const random = seededRandom(20_261_121);
    for (const { name, read: readBytes, ports } of FINGERPRINTS) {
      for (let round = 0; round < 400; round += 1) {
        const [, other] = random.pick(ANSWERS);
        const bytes =
          round % 2 === 0
            ? random.bytes(random.integer(200))
            : damaged(typeof other === "string" ? bytesOf(other) : other, random);
        const port = round % 3 === 0 ? 4_711 : (ports[0] ?? 0);
        expectSettled(readBytes({ bytes, isWhole: true, port }));
        expect(["object", "string"]).toContain(typeof readBytes({ bytes, isWhole: false, port }));
      }
      expect({ name, reading: readBytes({ bytes: new Uint8Array(), isWhole: true, port: ports[0] ?? 0 }) }).toEqual({
        name,
        reading: "Other",
      });
    }
  });

  test("omits values that vary between connections", () => {
    const first = read(
      "telnet",
      "\xff\xfb\x01Uptime since 2026-11-21 10:00:01, session 0123456789abcdef01 <a.b@c>\r\nlogin: ",
    );
    const second = read(
      "telnet",
      "\xff\xfb\x01Uptime since 2026-11-22 11:22:33, session fedcba987654321001 <x.y@z>\r\nlogin: ",
    );
    expect(first).toEqual(second);
  });
});

describe("similar services", () => {
  test("a mail server on the FTP port and an FTP server on the mail port are identified correctly", () => {
    expect(read("ftp", "220 mx.example.org ESMTP Postfix\r\n", { port: 21 })).toBe("Other");
    expect(read("smtp", "220 mx.example.org ESMTP Postfix\r\n", { port: 21 })).toEqual({
      name: "Postfix",
      service_definition: "smtp",
    });
    expect(read("smtp", "220 (vsFTPd 3.0.3)\r\n", { port: 25 })).toBe("Other");
    expect(read("smtp", "220 something\r\n", { port: 4_711 })).toBe("Other");
  });

  test("submission and relay, printing and browsing are distinguished by port despite a shared protocol", () => {
    expect(read("smtp", "220 mx ESMTP Postfix\r\n", { port: 587 })).toEqual({
      name: "Postfix",
      service_definition: "submission",
    });
    expect(read("http", http("<title>Home - CUPS 2.4.2</title>", ["Server: CUPS/2.4 IPP/2.1"]), { port: 631 })).toEqual(
      { name: "CUPS 2.4 IPP 2.1: Home - CUPS 2.4.2", service_definition: "ipp" },
    );
    expect(read("http", http("<title>x</title>"), { port: 8080 })).toEqual({
      name: "x",
      service_definition: "http-alt",
    });
    expect(read("http", http("<title>Cockpit</title>"), { port: 9090 })).toEqual({
      name: "Cockpit",
      service_definition: "http",
    });
  });

  test("a server that requires TLS is left to HTTPS", () => {
    expect(
      read(
        "http",
        http("<title>400 The plain HTTP request was sent to HTTPS port</title>", ["Server: nginx"], "400 Bad Request"),
        { port: 8080 },
      ),
    ).toBe("Other");
    expect(read("http", "\x15\x03\x01\0\x02\x02\x46", { port: 8080 })).toBe("Other");
  });

  test("another protocol that starts with PostgreSQL's letter is not PostgreSQL", () => {
    expect(read("postgresql", "SSH-2.0-OpenSSH_9.2p1\r\n")).toBe("Other");
    expect(read("postgresql", "E", { isWhole: true })).toBe("Other");
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

  test("that becomes empty is replaced by the service's name", () => {
    for (const nothing of [" \0\n ", "\u3164\u2800\u115f\uffa0", "\u200b\ufe0f"])
      expect(identified(nothing, "ssh")).toEqual({ name: "ssh", service_definition: "ssh" });
  });

  test("of 16 KiB is processed quickly, whatever its content", async () => {
    const tookMs = await processorMs(() => {
      for (let times = 0; times < 100; times += 1)
        for (const text of [
          `<${".".repeat(16_000)}`,
          "<".repeat(8_000) + "@".repeat(8_000),
          "1a".repeat(8_000),
          `Mon ${" ".repeat(16_000)}`,
        ])
          identified(text, "ssh");
    });
    // A full scan of each would take a tenth of a second and block the scanner.
    expect(tookMs).toBeLessThan(2_000);
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

function damaged(bytes: Uint8Array, random: ReturnType<typeof seededRandom>): Uint8Array {
  const copy = Uint8Array.from(bytes);
  for (let count = 0; count < 4 && copy.length > 0; count += 1) copy[random.integer(copy.length)] = random.integer(256);
  return copy.subarray(0, random.integer(copy.length + 1));
}
