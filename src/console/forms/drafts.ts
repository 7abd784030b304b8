// Form drafts: unsaved input in the tab's session storage, kept across reloads until the user signs out. No secrets.

import type { TypedFields } from "./edits.ts";
import type { Values } from "./field.ts";

export interface Draft {
  /** The record at the start of the edit, and its entity tag. */
  readonly base: Values;
  readonly tag: string;
  readonly typed: TypedFields;
  readonly reason: string;
  /** Idempotency key of a write whose outcome is unknown. */
  readonly sentAs?: string;
}

/** Identifies a draft by user and record. */
export interface DraftName {
  readonly userId: string;
  readonly kind: string;
  readonly id: string;
}

const PREFIX = "netledger:draft:";

/** User whose drafts are kept; null if signed out. */
let owner: string | null = null;

/** Keeps the drafts of one user and removes all others. @param userId null while signed out */
export function keepDraftsOf(userId: string | null): void {
  owner = userId;
  try {
    for (const key of Object.keys(sessionStorage))
      if (key.startsWith(PREFIX) && !key.startsWith(`${PREFIX}${userId}:`)) sessionStorage.removeItem(key);
  } catch {
    // Session storage is unavailable.
  }
}

/** Loads a stored draft; null if there is none. */
export function loadDraft(name: DraftName): Draft | null {
  try {
    const text = sessionStorage.getItem(keyOf(name));
    return text === null ? null : (JSON.parse(text) as Draft);
  } catch {
    return null;
  }
}

/** Stores a draft, unless its user has signed out in the meantime. @param draft null deletes the stored one */
export function storeDraft(name: DraftName, draft: Draft | null): void {
  if (draft !== null && name.userId !== owner) return;
  try {
    if (draft === null) sessionStorage.removeItem(keyOf(name));
    else sessionStorage.setItem(keyOf(name), JSON.stringify(draft));
  } catch {
    // Session storage is full or unavailable: the draft lasts as long as its form.
  }
}

function keyOf({ userId, kind, id }: DraftName): string {
  return `${PREFIX}${userId}:${kind}:${id}`;
}
