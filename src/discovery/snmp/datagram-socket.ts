// UDP socket connected to one address and port, reporting ICMP errors. Independent of the payload.

import { failure, type SnmpFailure } from "./failure.ts";

export interface DatagramListener {
  received(datagram: Buffer): void;
  /** A network error for a datagram that was sent. */
  failed(problem: SnmpFailure): void;
}

export interface DatagramSocket {
  /** Drops a datagram that cannot be sent right now, like a loss in transit. */
  send(datagram: Uint8Array): void;
  /** Frees the socket immediately. Idempotent. */
  close(): void;
}

/**
 * Connected (connect(2)): the kernel drops datagrams from elsewhere and reports returning ICMP errors.
 * @param address an IPv4 or IPv6 address
 */
export async function openDatagramSocket(
  address: string,
  port: number,
  listener: DatagramListener,
): Promise<DatagramSocket | SnmpFailure> {
  try {
    const socket = await Bun.udpSocket({
      // Without it, an IPv6 peer is rejected.
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
 * Maps the errno(3) of ICMP errors (ip(7)) and routing errors; null for others, such as full buffers, which are
 * temporary.
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
