// Drafts: unsaved input in the tab's session storage, kept across reloads until the author signs out. No secrets.

import type { TypedFields } from "./edits.ts";
import type { Values } from "./field.ts";

export interface Draft {
  /** The record at the start of the edit, and its entity tag. */
  readonly base: Values;
  readonly tag: string;
  readonly typed: TypedFields;
  readonly reason: string;
  /** Request key of a new record while the outcome of its creation is unknown. */
  readonly sentAs?: string;
}

/** Key of a draft: user and record. */
export interface DraftName {
  readonly userId: string;
  readonly kind: string;
  readonly id: string;
}

const PREFIX = "netledger:draft:";

/** User whose drafts are kept; null if signed out. */
let author: string | null = null;

/**
 * Keeps drafts of one user from now on, and removes those of all others.
 * @param userId null while signed out
 */
export function keepDraftsOf(userId: string | null): void {
  author = userId;
  try {
    for (const key of Object.keys(sessionStorage))
      if (key.startsWith(PREFIX) && !key.startsWith(`${PREFIX}${userId}:`)) sessionStorage.removeItem(key);
  } catch {
    // Session storage is unavailable.
  }
}

/** @returns null if there is none */
export function keptDraft(name: DraftName): Draft | null {
  try {
    const text = sessionStorage.getItem(keyOf(name));
    return text === null ? null : (JSON.parse(text) as Draft);
  } catch {
    return null;
  }
}

/**
 * Ignores drafts of a user who has signed out, e.g. from a late response.
 * @param draft null deletes it. Without session storage, a draft lasts as long as its form.
 */
export function keepDraft(name: DraftName, draft: Draft | null): void {
  if (draft !== null && name.userId !== author) return;
  try {
    if (draft === null) sessionStorage.removeItem(keyOf(name));
    else sessionStorage.setItem(keyOf(name), JSON.stringify(draft));
  } catch {
    // Session storage is full or unavailable.
  }
}

function keyOf({ userId, kind, id }: DraftName): string {
  return `${PREFIX}${userId}:${kind}:${id}`;
}
