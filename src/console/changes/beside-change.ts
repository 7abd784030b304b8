// What stands beside a record that differs from now: what can be done with it is known above, where records are edited.

import { type ComponentChildren, createContext } from "preact";
import type { ChangedRecord } from "./difference-lines.ts";

/**
 * @param from the instant at which it was as the difference begins
 * @param onWritten to be called when some of it was brought back, or that was undone: it differs otherwise then
 */
type Beside = (record: ChangedRecord, from: string, onWritten: () => void) => ComponentChildren;

export const BesideChange = createContext<Beside | null>(null);
