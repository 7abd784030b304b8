// A UDP socket that hears one address and port alone, and hears as well that nobody is there. Knows nothing of what it
// carries.

import { failure, type SnmpFailure } from "./failure.ts";

export interface DatagramListener {
  received(datagram: Buffer): void;
  /** What the network says of a datagram that was sent. */
  failed(problem: SnmpFailure): void;
}

export interface DatagramSocket {
  /** A datagram that cannot be sent right now is lost, as others are on their way. */
  send(datagram: Uint8Array): void;
  /** Frees it at once; any number of times. */
  close(): void;
}

/**
 * Connected (connect(2)): the kernel lets in no datagram from elsewhere, and hands over the ICMP errors that come back.
 * @param address an IPv4 or IPv6 address
 */
export async function openDatagramSocket(
  address: string,
  port: number,
  listener: DatagramListener,
): Promise<DatagramSocket | SnmpFailure> {
  try {
    const socket = await Bun.udpSocket({
      // Without it an IPv6 peer is refused.
      ...(address.includes(":") ? { hostname: "::" } : {}),
      connect: { hostname: address, port },
      socket: {
        data: (_socket, datagram) => listener.received(datagram),
        error: (_socket: unknown, error?: unknown) => report(error ?? _socket, listener),
      },
    });
    return {
      send: (datagram) => {
        if (socket.closed) return;
        try {
          socket.send(datagram);
        } catch (error) {
          report(error, listener);
        }
      },
      close: () => {
        if (!socket.closed) socket.close();
      },
    };
  } catch (error) {
    const code = codeOf(error);
    return (
      failureOfCode(code) ??
      failure("unreachable", `the address cannot be reached: no socket for it could be opened (${code})`)
    );
  }
}

function report(error: unknown, listener: DatagramListener): void {
  const problem = failureOfCode(codeOf(error));
  if (problem !== null) listener.failed(problem);
}

/**
 * errno(3) of ICMP errors (ip(7)) and of what the routing table says; null for others, such as full buffers, which
 * pass.
 */
function failureOfCode(code: string): SnmpFailure | null {
  if (code === "ECONNREFUSED") return failure("port_closed");
  return UNREACHABLE.has(code) ? failure("unreachable", `the address cannot be reached (${code})`) : null;
}

const UNREACHABLE: ReadonlySet<string> = new Set([
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EHOSTDOWN",
  "ENETDOWN",
  "ENONET",
  "ENOPROTOOPT",
  "EPROTO",
  "EACCES",
  "EPERM",
  "EADDRNOTAVAIL",
  "EAFNOSUPPORT",
]);

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown";
}
