// Writer commands for consolidating and splitting hosts.

import { type CallsOf, takingLong } from "../../db/writing/command.ts";
import { consolidateHosts } from "./consolidate.ts";
import { splitHost } from "./split.ts";

export const consolidationCommands = {
  "host.consolidate": takingLong(consolidateHosts),
  "host.split": takingLong(splitHost),
};
export type ConsolidationCommands = CallsOf<typeof consolidationCommands>;
