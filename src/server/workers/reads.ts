// Thread entry: long reads.

import { systemClock } from "../../base/clock.ts";
import { runThread } from "../../base/thread.ts";
import { openReadOnly } from "../../db/connection.ts";
import { serveLongReads } from "../../db/reading/long-reads.ts";
import { Reader } from "../../db/reading/reader.ts";
import { callerOfRead, LONG_READS } from "../../registry/long-reads.ts";

runThread(
  serveLongReads((path) => new Reader(openReadOnly(path), systemClock), LONG_READS, { callerOf: callerOfRead }),
);
