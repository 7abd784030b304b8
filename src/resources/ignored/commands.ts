// Writer commands for ignored entries: removals create them (removal.ts), users can delete them.

import type { CallsOf } from "../../db/writing/command.ts";
import { removeEach } from "../bulk-removal.ts";
import { ignoredKind } from "./ignored.ts";
import { removeOne } from "./removal.ts";

/** Lets discovery create the record again when a scan finds it. */
const removeIgnored = removeOne(ignoredKind);

export const ignoredCommands = {
  "ignored.delete": removeIgnored,
  "ignored.bulk_delete": removeEach(ignoredKind, removeIgnored),
};
export type IgnoredCommands = CallsOf<typeof ignoredCommands>;
