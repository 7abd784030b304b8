// Drafts: unsaved input, kept by this tab over a reload, for as long as its author is signed in. No secret is among it.

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

const PREFIX = "netledger:draft:";

/** The user whose drafts are kept; null for nobody. */
let author: string | null = null;

/**
 * Keeps drafts of one user from now on, and removes those of all others.
 * @param userId null while nobody is signed in
 */
export function keepDraftsOf(userId: string | null): void {
  author = userId;
  try {
    for (const key of Object.keys(sessionStorage))
      if (key.startsWith(PREFIX) && !key.startsWith(`${PREFIX}${userId}:`)) sessionStorage.removeItem(key);
  } catch {
    // There is none.
  }
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

/**
 * An answer may come after its author has left: nothing is kept then.
 * @param draft null forgets it. Where the browser keeps nothing, a draft lasts as long as its form.
 */
export function keepDraft(name: DraftName, draft: Draft | null): void {
  if (draft !== null && name.userId !== author) return;
  try {
    if (draft === null) sessionStorage.removeItem(keyOf(name));
    else sessionStorage.setItem(keyOf(name), JSON.stringify(draft));
  } catch {
    // It is full, or there is none.
  }
}

function keyOf({ userId, kind, id }: DraftName): string {
  return `${PREFIX}${userId}:${kind}:${id}`;
}
