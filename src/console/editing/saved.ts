// Last write, which can be undone on the page where it was made.

import { signal } from "@preact/signals";
import { onForgotten } from "../api/answer.ts";

export interface Saved {
  readonly kind: string;
  readonly id: string;
  readonly operation: "created" | "updated" | "deleted" | "restored";
  /** Transaction; null if the write changed nothing. */
  readonly sequence: number | null;
  /** Fields changed by others during the edit, whose values were kept. */
  readonly merged: readonly string[];
  /** Page of the write. */
  readonly place?: string;
}

export const lastSaved = signal<Saved | null>(null);

onForgotten(() => {
  lastSaved.value = null;
});
