// ARP probing of on-link stations by this process, which spares the kernel's neighbor table of about 1,000 entries. A
// router may reply for other stations.

import type { Ip } from "../../base/ip.ts";
import { ifIndexOfLinkAddress, linkBroadcastAddress } from "../kernel/socket-address.ts";
import { AF_PACKET, SOCK_DGRAM, type Sockets } from "../kernel/sockets.ts";
import { arpRequest, ETHERTYPE_ARP, parseArpReply } from "./arp-packet.ts";
import { type Open, type ProbeOutcome, ProbeRound, type ProbeRoundOptions } from "./probing.ts";

interface ArpSocketParts extends ProbeRoundOptions {
  readonly sockets: Sockets;
}

/** The link and this machine's addresses on it. */
export interface ArpLink {
  readonly ifIndex: number;
  readonly source: Ip;
  readonly mac: string;
}

/** Returns null without CAP_NET_RAW. */
export function openArpSocket(parts: ArpSocketParts): ArpSocket | null {
  const protocol = ((ETHERTYPE_ARP & 0xff) << 8) | (ETHERTYPE_ARP >>> 8);
  const descriptor = parts.sockets.open(AF_PACKET, SOCK_DGRAM, protocol);
  if (descriptor < 0) return null;
  parts.sockets.enlargeBuffers(descriptor, BUFFER_BYTES);
  return new ArpSocket(descriptor, parts);
}

const BUFFER_BYTES = 1024 * 1024;

/** As long as a phone takes to wake from power saving. */
const WAITS_MS = [800, 1_200];

const MAX_PER_ROUND = 1_024;

export class ArpSocket {
  private readonly descriptor: number;
  private readonly parts: ArpSocketParts;
  private readonly round: ProbeRound<string>;
  isUsed = false;
  /** Keyed by interface and address. */
  private readonly open = new Map<string, Open<string>>();

  constructor(descriptor: number, parts: ArpSocketParts) {
    this.descriptor = descriptor;
    this.parts = parts;
    this.round = new ProbeRound(parts, () => this.drain());
  }

  async probe(ip: Ip, link: ArpLink): Promise<ProbeOutcome<string>> {
    const key = keyOf(link.ifIndex, ip.text);
    const request = arpRequest(link.mac, link.source, ip);
    const broadcast = linkBroadcastAddress(link.ifIndex, ETHERTYPE_ARP);
    try {
      return await this.round.probe(WAITS_MS, (open) => {
        this.open.set(key, open);
        this.isUsed = true;
        return this.parts.sockets.sendTo(this.descriptor, request, broadcast);
      });
    } finally {
      this.open.delete(key);
    }
  }

  end(reason: unknown): void {
    this.round.end(reason);
    this.parts.sockets.closeSocket(this.descriptor);
  }

  private drain(): boolean {
    for (let count = 0; count < MAX_PER_ROUND; count += 1) {
      const received = this.parts.sockets.receiveFrom(this.descriptor);
      if (received === null) return count > 0;
      const reply = parseArpReply(received.bytes);
      if (reply) this.open.get(keyOf(ifIndexOfLinkAddress(received.from), reply.ip_address))?.answer(reply.mac_address);
    }
    return true;
  }
}

function keyOf(ifIndex: number | null, ipAddress: string): string {
  return `${ifIndex} ${ipAddress}`;
}
