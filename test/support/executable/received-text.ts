// Text received on a socket.

import type { Socket } from "node:net";
import { withDeadline } from "./executable.ts";

/** Everything received until the connection is closed or reset. */
export function receivedText(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  const text = new Promise<string>((resolve) => {
    const finish = () => resolve(Buffer.concat(chunks).toString());
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.on("close", finish);
    socket.on("error", finish);
  });
  return withDeadline(text, "a response", () => socket.destroy());
}
