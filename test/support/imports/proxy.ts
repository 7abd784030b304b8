// Loopback proxy that records requests and forwards nothing.

/** All variables from which programs read a proxy. */
export const PROXY_VARIABLES = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

export interface ProxyLog {
  readonly url: string;
  /** All received bytes, verbatim. */
  received(): string;
  stop(): Promise<void>;
}

export function openProxy(): ProxyLog {
  let received = "";
  const listener = Bun.listen({
    port: 0,
    hostname: "127.0.0.1",
    socket: {
      data: (socket, bytes) => {
        received += bytes.toString("latin1");
        socket.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
      },
    },
  });
  return {
    url: `http://127.0.0.1:${listener.port}`,
    received: () => received,
    stop: async () => listener.stop(true),
  };
}
