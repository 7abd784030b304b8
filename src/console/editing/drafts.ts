// What was typed and not saved yet: kept by this tab, for whoever typed it, over a reload and the end of a session. No
// secret is among it.

import type { TypedFields } from "./edits.ts";
import type { Values } from "./field.ts";

export interface Draft {
  /** The record as it was when the edit began, and its entity tag. */
  readonly base: Values;
  readonly tag: string;
  readonly typed: TypedFields;
  readonly reason: string;
  /** Of a new record, the key under which it was sent, while nobody knows whether it was made. */
  readonly sentAs?: string;
}

/** Which draft: one's own of a record. */
export interface DraftName {
  readonly userId: string;
  readonly kind: string;
  readonly id: string;
}

/** @returns null where there is none */
export function keptDraft(name: DraftName): Draft | null {
  try {
    const text = sessionStorage.getItem(keyOf(name));
    return text === null ? null : (JSON.parse(text) as Draft);
  } catch {
    return null;
  }
}

/** @param draft null forgets it. Where the browser keeps nothing, a draft lasts as long as its form. */
export function keepDraft(name: DraftName, draft: Draft | null): void {
  try {
    if (draft === null) sessionStorage.removeItem(keyOf(name));
    else sessionStorage.setItem(keyOf(name), JSON.stringify(draft));
  } catch {
    // It is full, or there is none.
  }
}

function keyOf({ userId, kind, id }: DraftName): string {
  return `netledger:draft:${userId}:${kind}:${id}`;
}
