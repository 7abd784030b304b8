// Writer commands for ignored entries: removals create them (removal.ts), users can delete them.

import type { CallsOf } from "../../db/writing/command.ts";
import { removeEach } from "../bulk-removal.ts";
import { ignoredKind } from "./ignored.ts";
import { removeOne } from "./removal.ts";

/** Lets discovery create the record again when a scan finds it. */
const lift = removeOne(ignoredKind);

export const ignoredCommands = {
  "ignored.delete": lift,
  "ignored.bulk_delete": removeEach(ignoredKind, lift),
};
export type IgnoredCommands = CallsOf<typeof ignoredCommands>;
