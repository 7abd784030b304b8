// Router of the sweep lab that lies: serves a page, and sends forged responses as raw packets.

import { parseIp } from "../../../src/base/ip.ts";
import { systemTimers } from "../../../src/base/timers.ts";
import { socketAddress } from "../../../src/discovery/kernel/socket-address.ts";
import { AF_INET, AF_PACKET, SOCK_DGRAM, SOCK_RAW, Sockets } from "../../../src/discovery/kernel/sockets.ts";
import { SocketPoller } from "../../../src/discovery/sweep/socket-poller.ts";
import { LAB } from "./lab.ts";

const ETHERTYPE_IP = 0x0008;
const IPPROTO_RAW = 255;
const [ICMP, TCP] = [1, 6];

const sockets = new Sockets();
const incoming = sockets.open(AF_PACKET, SOCK_DGRAM, ETHERTYPE_IP);
const outgoing = sockets.open(AF_INET, SOCK_RAW, IPPROTO_RAW);

/** Internet checksum (RFC 1071). */
function checksum(bytes: Uint8Array): number {
  let sum = 0;
  for (let offset = 0; offset < bytes.length; offset += 2)
    sum += ((bytes[offset] ?? 0) << 8) | (bytes[offset + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

/** Sends an ICMP message from any address: the kernel adds length, checksum and id of the IP header. */
function send(from: Uint8Array, to: Uint8Array, message: Uint8Array): void {
  const packet = new Uint8Array(20 + message.length);
  packet.set([0x45, 0, 0, 0, 0, 0, 0, 0, 64, ICMP]);
  packet.set(from, 12);
  packet.set(to, 16);
  message.fill(0, 2, 4);
  const sum = checksum(message);
  message.set([sum >>> 8, sum & 0xff], 2);
  packet.set(message, 20);
  const target = parseIp(to.join("."));
  if (target) sockets.sendTo(outgoing, packet, socketAddress(target, 0));
}

function respond(packet: Uint8Array): void {
  const header = ((packet[0] ?? 0) & 0x0f) * 4;
  const [from, to] = [packet.slice(12, 16), packet.slice(16, 20)];
  const text = to.join(".");
  if (packet[9] === TCP && text.startsWith("10.62.0.")) {
    // Destination unreachable, port unreachable, with the header and the first eight bytes of the undelivered packet.
    send(parseIp(LAB.host)?.bytes ?? to, from, Uint8Array.of(3, 3, 0, 0, 0, 0, 0, 0, ...packet.slice(0, header + 8)));
  }
  const reply = packet.slice(header);
  if (packet[9] !== ICMP || reply[0] !== 8 || !text.startsWith("10.63.0.")) return;
  reply[0] = 0;
  if (text === LAB.genuine) send(to, from, reply);
  if (text === LAB.forgedSource) send(parseIp(LAB.host)?.bytes ?? to, from, reply);
  if (text !== LAB.forgedToken) return;
  reply[12] = (reply[12] ?? 0) ^ 1;
  send(to, from, reply);
}

Bun.serve({
  hostname: "0.0.0.0",
  port: 80,
  fetch: () =>
    new Response("<title>Router of the lab</title>", { headers: { server: "liar/1.0", "content-type": "text/html" } }),
});
new SocketPoller(systemTimers).add(() => {
  let isBusy = false;
  for (let received = sockets.receiveFrom(incoming); received !== null; received = sockets.receiveFrom(incoming)) {
    respond(received.bytes);
    isBusy = true;
  }
  return isBusy;
});
process.stdout.write("liar is up\n");
