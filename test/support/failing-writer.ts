// A writer's thread that opens like the real one and dies of its first command.

import type { FromWorker, ToWorker } from "../../src/db/write-queue.ts";
import { openWriter, type WriterOptions } from "../../src/writer.ts";

const port = globalThis as unknown as {
  postMessage(message: FromWorker): void;
  onmessage: (event: MessageEvent<ToWorker>) => void;
};
port.onmessage = ({ data }) => {
  if (data.type !== "open") throw new Error("a fault of the test");
  openWriter(data.options as WriterOptions).close();
  port.postMessage({ type: "opened" });
};
