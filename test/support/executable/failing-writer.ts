// Writer thread that opens like the real one and crashes on its first command.

import { runThread } from "../../../src/base/thread.ts";
import type { WriteMessages } from "../../../src/db/writing/write-queue.ts";
import { openWriter } from "../../../src/server/open-writer.ts";

runThread<WriteMessages>((post) => (message) => {
  if (message.type !== "open") throw new Error("a fault of the test");
  openWriter(message.options).close();
  post({ type: "opened" });
});
