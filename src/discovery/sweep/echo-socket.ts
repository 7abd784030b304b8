// ICMP echo through a datagram or raw socket: many addresses in parallel, with each reply matched to its request.
// Ignores other senders, router errors and replies to other programs.

import type { Ip } from "../../base/ip.ts";
import type { Random } from "../../base/random.ts";
import { ipOfSocketAddress, socketAddress } from "../kernel/socket-address.ts";
import { AF_INET, AF_INET6, SOCK_DGRAM, SOCK_RAW, type Sockets } from "../kernel/sockets.ts";
import type { Echo, EchoOutcome } from "./echo.ts";
import { ECHO_TOKEN_BYTES, echoRequest, parseEchoReply } from "./echo-packet.ts";
import { type Open, ProbeRound, type ProbeRoundOptions } from "./probing.ts";

export interface EchoSocketParts extends ProbeRoundOptions {
  readonly sockets: Sockets;
  readonly random: Random;
}

type EchoSocketType = "IcmpDatagram" | "IcmpRaw";

/** Returns null if the process may not open the socket or the kernel lacks the IP version. */
export function openEchoSocket(version: 4 | 6, type: EchoSocketType, parts: EchoSocketParts): Echo | null {
  const { sockets } = parts;
  const descriptor = sockets.open(
    version === 4 ? AF_INET : AF_INET6,
    type === "IcmpRaw" ? SOCK_RAW : SOCK_DGRAM,
    version === 4 ? IPPROTO_ICMP : IPPROTO_ICMPV6,
  );
  if (descriptor < 0) return null;
  if (type === "IcmpRaw") {
    // A raw socket receives all ICMP of the machine: the filter leaves room for echo replies.
    if (version === 4)
      sockets.setOption(descriptor, SOL_RAW, ICMP_FILTER, new Uint8Array(Uint32Array.of(~(1 << ECHO_REPLY_V4)).buffer));
    else sockets.setOption(descriptor, IPPROTO_ICMPV6, ICMP6_FILTER, icmp6FilterFor(ECHO_REPLY_V6));
  }
  // Packets to unresolved neighbors stay in the buffer for seconds.
  sockets.enlargeBuffers(descriptor, BUFFER_BYTES);
  return new EchoSocket(version, type, descriptor, parts);
}

const IPPROTO_ICMP = 1;
const IPPROTO_ICMPV6 = 58;
const SOL_RAW = 255;
const ICMP_FILTER = 1;
const ICMP6_FILTER = 1;
const ECHO_REPLY_V4 = 0;
const ECHO_REPLY_V6 = 129;
const BUFFER_BYTES = 4 * 1024 * 1024;

/** Waits for the first and second request; a late reply to the first counts. */
const WAITS_MS = [700, 1_000];

/** Per round, so that a flood does not block the thread. */
const MAX_PER_ROUND = 1_024;

/** struct icmp6_filter: 256 bits; set bits are blocked. */
function icmp6FilterFor(type: number): Uint8Array {
  const words = new Uint32Array(8).fill(0xffff_ffff);
  words[type >>> 5] = ~(1 << (type & 31));
  return new Uint8Array(words.buffer);
}

interface Sent {
  readonly ip: Ip;
  readonly token: Uint8Array;
  readonly open: Open<null>;
}

class EchoSocket implements Echo {
  readonly method: EchoSocketType;
  private readonly version: 4 | 6;
  private readonly descriptor: number;
  private readonly parts: EchoSocketParts;
  private readonly round: ProbeRound<null>;
  private readonly identifier: number;
  private readonly sent = new Map<number, Sent>();
  private sequence: number;

  constructor(version: 4 | 6, method: EchoSocketType, descriptor: number, parts: EchoSocketParts) {
    this.version = version;
    this.method = method;
    this.descriptor = descriptor;
    this.parts = parts;
    this.round = new ProbeRound(parts, () => this.drain());
    const [a = 0, b = 0, c = 0, d = 0] = parts.random.bytes(4);
    this.identifier = (a << 8) | b;
    this.sequence = (c << 8) | d;
  }

  async probe(ip: Ip): Promise<EchoOutcome> {
    const sequences: number[] = [];
    const address = socketAddress(ip, 0);
    try {
      const outcome = await this.round.probe(WAITS_MS, (open) => {
        const sequence = this.nextSequence();
        const token = this.parts.random.bytes(ECHO_TOKEN_BYTES);
        sequences.push(sequence);
        this.sent.set(sequence, { ip, token, open });
        const request = echoRequest({ version: this.version, identifier: this.identifier, sequence, token });
        return this.parts.sockets.sendTo(this.descriptor, request, address);
      });
      return outcome.kind === "Failed" ? outcome : { kind: outcome.kind };
    } finally {
      for (const sequence of sequences) this.sent.delete(sequence);
    }
  }

  end(reason: unknown): void {
    this.round.end(reason);
    this.parts.sockets.closeSocket(this.descriptor);
  }

  /** A sequence number not used by an open request. */
  private nextSequence(): number {
    do this.sequence = (this.sequence + 1) & 0xffff;
    while (this.sent.has(this.sequence));
    return this.sequence;
  }

  private drain(): boolean {
    const hasIpHeader = this.method === "IcmpRaw" && this.version === 4;
    for (let count = 0; count < MAX_PER_ROUND; count += 1) {
      const received = this.parts.sockets.receiveFrom(this.descriptor);
      if (received === null) return count > 0;
      const reply = parseEchoReply(this.version, received.bytes, hasIpHeader);
      const sent = reply === null ? undefined : this.sent.get(reply.sequence);
      if (reply === null || sent === undefined) continue;
      // For a datagram socket, the kernel already matched the identifier.
      const isOurs = this.method === "IcmpDatagram" || reply.identifier === this.identifier;
      const isTokenEqual = Buffer.compare(reply.token, sent.token) === 0;
      if (isOurs && isTokenEqual && ipOfSocketAddress(received.from)?.ip.text === sent.ip.text) sent.open.answer(null);
    }
    return true;
  }
}
