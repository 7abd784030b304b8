// What was written last, which can be undone where it was written.

import { signal } from "@preact/signals";
import { onForgotten } from "../api/answer.ts";

export interface Saved {
  readonly kind: string;
  readonly id: string;
  readonly operation: "created" | "updated" | "deleted" | "restored";
  /** Its transaction; null where nothing was written: what was typed was there already. */
  readonly sequence: number | null;
  /** Fields that others changed meanwhile, and that stayed as they left them. */
  readonly merged: readonly string[];
  /** The page on which it was written. */
  readonly place?: string;
}

export const lastSaved = signal<Saved | null>(null);

onForgotten(() => {
  lastSaved.value = null;
});
