// Writer commands for consolidating and splitting hosts.

import { type CallsOf, markLongRunning } from "../../db/writing/command.ts";
import { consolidateHosts } from "./consolidate.ts";
import { splitHost } from "./split.ts";

export const consolidationCommands = {
  "host.consolidate": markLongRunning(consolidateHosts),
  "host.split": markLongRunning(splitHost),
};
export type ConsolidationCommands = CallsOf<typeof consolidationCommands>;
