// What was saved last, which can be undone where it was saved.

import { signal } from "@preact/signals";

export interface Saved {
  readonly kind: string;
  readonly id: string;
  /** Its transaction; null where nothing was written: what was typed was there already. */
  readonly sequence: number | null;
  /** Fields that others changed meanwhile, and that stayed as they left them. */
  readonly merged: readonly string[];
}

export const lastSaved = signal<Saved | null>(null);
