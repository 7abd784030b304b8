// The last write, which the user can undo on the page where it was made.

import { signal } from "@preact/signals";
import { onResponsesCleared } from "../api/response.ts";

export interface Saved {
  readonly kind: string;
  readonly id: string;
  readonly operation: "created" | "updated" | "deleted" | "restored";
  /** Transaction; null if the write changed nothing. */
  readonly sequence: number | null;
  /** Fields that others changed during the edit, and whose values were preserved. */
  readonly merged: readonly string[];
  /** Path of the page where the write was made. */
  readonly page?: string;
}

/** Result of writing several records. */
export function savedMany(kind: string, operation: "updated" | "deleted", sequence: number | null): Saved {
  return { kind, id: "", operation, sequence, merged: [] };
}

export const lastSaved = signal<Saved | null>(null);

onResponsesCleared(() => (lastSaved.value = null));
