// Thread entry: writer.

import { systemClock } from "../../base/clock.ts";
import { systemRandom } from "../../base/random.ts";
import { runThread } from "../../base/thread.ts";
import { serveWrites } from "../../db/writing/write-queue.ts";
import { takesLong } from "../../registry/commands.ts";
import { openWriter } from "../open-writer.ts";

runThread(
  serveWrites({
    open: (options, past, onPostponed) => openWriter(options, systemClock, systemRandom, { past, onPostponed }),
    takesLong,
    monotonicMs: () => performance.now(),
  }),
);
