// A credential that was sent and of which nobody knows whether it was saved: the key that it was sent with, and what was
// typed of it. Kept by this tab until that is known, for whoever typed it. No secret is among it.

import { type DraftName, keepDraft, keptDraft } from "../editing/drafts.ts";
import { me } from "../session/me.ts";
import { NOTHING_TYPED, type TypedCredential } from "./credentials-typed.ts";

export interface KeptTry {
  /** Of newRequestKey(): what is sent with it again is saved once. */
  readonly key: string;
  /** Without its secrets. */
  readonly typed: TypedCredential;
}

/** @returns null where nothing was sent, or all is known of it */
export function keptTry(networkId: string): KeptTry | null {
  const { sentAs, typed } = keptDraft(nameOf(networkId)) ?? {};
  return sentAs === undefined ? null : { key: sentAs, typed: { ...NOTHING_TYPED, ...typed } as TypedCredential };
}

/** @param sent null forgets it */
export function keepTry(networkId: string, sent: KeptTry | null): void {
  if (sent === null) return keepDraft(nameOf(networkId), null);
  const { user, authProtocol, privProtocol, context } = sent.typed;
  const typed = { user, authProtocol, privProtocol, context };
  keepDraft(nameOf(networkId), { base: {}, tag: "", typed, reason: "", sentAs: sent.key });
}

function nameOf(networkId: string): DraftName {
  return { userId: me.peek()?.id ?? "", kind: "first credential", id: networkId };
}
