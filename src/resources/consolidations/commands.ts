// What the writer runs for hosts that were found to be one, or two.

import { type CallsOf, takingLong } from "../../db/writing/command.ts";
import { consolidateHosts } from "./consolidate.ts";
import { splitHost } from "./split.ts";

export const consolidationCommands = {
  "host.consolidate": takingLong(consolidateHosts),
  "host.split": takingLong(splitHost),
};
export type ConsolidationCommands = CallsOf<typeof consolidationCommands>;
