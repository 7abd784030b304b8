// Slot next to a changed record in a comparison. Filled by `frame/`, since this directory cannot import the edit forms.

import { type ComponentChildren, createContext } from "preact";
import type { ChangedRecord } from "./difference-lines.ts";

/** Content of the slot. @param from start of the comparison @param onWritten called after a restore or its undo */
type ChangeSlot = (record: ChangedRecord, from: string, onWritten: () => void) => ComponentChildren;

export const RecordChangeSlot = createContext<ChangeSlot | null>(null);
