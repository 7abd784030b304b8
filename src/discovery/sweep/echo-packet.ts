// ICMP and ICMPv6 echo messages (RFC 792, RFC 4443 section 4). Pure.

/** Random bytes in each request, known only to its receiver. */
export const ECHO_TOKEN_BYTES = 16;

interface EchoRequest {
  readonly version: 4 | 6;
  readonly identifier: number;
  readonly sequence: number;
  readonly token: Uint8Array;
}

interface EchoReply {
  readonly identifier: number;
  readonly sequence: number;
  readonly token: Uint8Array;
}

/** Includes the checksum for IPv4; for IPv6 the kernel adds it, since it knows the source address. */
export function echoRequest({ version, identifier, sequence, token }: EchoRequest): Uint8Array {
  const message = new Uint8Array(HEADER_BYTES + ECHO_TOKEN_BYTES + SIGNATURE.length);
  const view = new DataView(message.buffer);
  view.setUint8(0, version === 4 ? ECHO_V4 : ECHO_V6);
  view.setUint16(4, identifier);
  view.setUint16(6, sequence);
  message.set(token.subarray(0, ECHO_TOKEN_BYTES), HEADER_BYTES);
  message.set(SIGNATURE, HEADER_BYTES + ECHO_TOKEN_BYTES);
  if (version === 4) view.setUint16(2, checksum(message));
  return message;
}

/**
 * Returns null for anything but an echo reply, including router errors that quote a request.
 * @param hasIpHeader true if the IPv4 header precedes the message, as on raw sockets
 */
export function parseEchoReply(version: 4 | 6, packet: Uint8Array, hasIpHeader: boolean): EchoReply | null {
  const start = hasIpHeader ? ((packet[0] ?? 0) & 0x0f) * 4 : 0;
  const message = packet.subarray(start);
  if (message.length < HEADER_BYTES + ECHO_TOKEN_BYTES) return null;
  if (message[0] !== (version === 4 ? REPLY_V4 : REPLY_V6) || message[1] !== 0) return null;
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  return {
    identifier: view.getUint16(4),
    sequence: view.getUint16(6),
    token: message.slice(HEADER_BYTES, HEADER_BYTES + ECHO_TOKEN_BYTES),
  };
}

/** Type 1, code 1, checksum 2, identifier 2, sequence number 2. */
const HEADER_BYTES = 8;
const ECHO_V4 = 8;
const REPLY_V4 = 0;
const ECHO_V6 = 128;
const REPLY_V6 = 129;

/** Identifies the sender in packet captures. */
const SIGNATURE = new TextEncoder().encode("netledger sweep\0");

/** RFC 1071, for an even number of bytes. */
function checksum(message: Uint8Array): number {
  let sum = 0;
  for (let index = 0; index < message.length; index += 2)
    sum += ((message[index] ?? 0) << 8) | (message[index + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}
