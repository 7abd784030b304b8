// What the writer runs for what is ignored: it comes by itself (removal.ts), and can be lifted.

import type { CallsOf } from "../../db/writing/command.ts";
import { removeEach } from "../bulk-removal.ts";
import { ignoredKind } from "./ignored.ts";
import { removeOne } from "./removal.ts";

/** Lets discovery bring a thing back when it comes upon it again. */
const lift = removeOne(ignoredKind);

export const ignoredCommands = {
  "ignored.delete": lift,
  "ignored.bulk_delete": removeEach(ignoredKind, lift),
};
export type IgnoredCommands = CallsOf<typeof ignoredCommands>;
