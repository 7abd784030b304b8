// Credential request with an unknown result: its key and input, without secrets. Stored in this tab, for the user who
// sent it, until the result is known.

import { type DraftName, keepDraft, keptDraft } from "../forms/drafts.ts";
import { me } from "../session/me.ts";
import { NOTHING_TYPED, type TypedCredential } from "./credentials-typed.ts";

export interface KeptTry {
  /** From newRequestKey(): a retry with the key is saved only once. */
  readonly key: string;
  /** Without secrets. */
  readonly typed: TypedCredential;
}

/** @returns null without a pending request */
export function keptTry(networkId: string): KeptTry | null {
  const { sentAs, typed } = keptDraft(nameOf(networkId)) ?? {};
  return sentAs === undefined ? null : { key: sentAs, typed: { ...NOTHING_TYPED, ...typed } as TypedCredential };
}

/** @param sent null removes it */
export function keepTry(networkId: string, sent: KeptTry | null): void {
  if (sent === null) return keepDraft(nameOf(networkId), null);
  const { user, authProtocol, privProtocol, context } = sent.typed;
  const typed = { user, authProtocol, privProtocol, context };
  keepDraft(nameOf(networkId), { base: {}, tag: "", typed, reason: "", sentAs: sent.key });
}

function nameOf(networkId: string): DraftName {
  return { userId: me.peek()?.id ?? "", kind: "first credential", id: networkId };
}
