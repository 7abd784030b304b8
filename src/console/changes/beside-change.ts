// Slot next to a record that differs from now. Filled by the folders above, which can edit records.

import { type ComponentChildren, createContext } from "preact";
import type { ChangedRecord } from "./difference-lines.ts";

/**
 * @param from start of the difference
 * @param onWritten called after a restore or its undo, since the difference has changed
 */
type Beside = (record: ChangedRecord, from: string, onWritten: () => void) => ComponentChildren;

export const BesideChange = createContext<Beside | null>(null);
