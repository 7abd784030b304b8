// Write state of a form: busy, refused, or of unknown outcome. A retry of an unchanged write reuses its idempotency
// key, so that it is executed only once.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import { isOutcomeUnknown, type Refusal } from "../api/refusal.ts";
import { RequestKeys } from "./request-key.ts";

/** API error code for a key already used with another request. */
export const REUSED = "idempotency_key_reused";

/** Header parameter that makes a write safe to repeat. */
export interface KeyHeader {
  readonly "Idempotency-Key": string;
}

export interface WriteState {
  readonly isBusy: boolean;
  readonly problem: Refusal | null;
  /** Whether the outcome of the last write is unknown, until a retry gets a response. */
  readonly isLost: boolean;
  /** Sends a write, unless one is pending. Errors become `problem`. @param request complete description, for JSON */
  send(request: unknown, write: (header: KeyHeader) => Promise<unknown>): Promise<void>;
  refuse(problem: Refusal | null): void;
}

/** @param sentAs idempotency key of a write whose outcome was unknown before a reload */
export function useWrite(sentAs: string | null = null): WriteState {
  const initial = { isBusy: false, problem: null as Refusal | null, isLost: sentAs !== null };
  const [{ isBusy, problem, isLost }, setState] = useState(initial);
  const pending = useRef(false);
  const openKey = useRef(sentAs);
  const keys = useRef(new RequestKeys());
  const send: WriteState["send"] = async (request, write) => {
    if (pending.current) return;
    pending.current = true;
    const text = JSON.stringify(request);
    setState((last) => ({ ...last, isBusy: true, problem: null }));
    let refusal: Refusal | null = null;
    try {
      await write({ "Idempotency-Key": openKey.current ?? keys.current.keyFor(text) });
    } catch (cause) {
      refusal = asRefusal(cause);
    }
    const isUnknown = refusal !== null && isOutcomeUnknown(refusal);
    if (!isUnknown) openKey.current = null;
    if (refusal === null || refusal.code === REUSED) keys.current.settle(text);
    pending.current = false;
    setState({ isBusy: false, problem: refusal, isLost: isUnknown });
  };
  return { isBusy, problem, isLost, send, refuse: (refusal) => setState((last) => ({ ...last, problem: refusal })) };
}

/** Focuses the first control in an element before it is painted. @returns the ref for the element */
export function useFirstFocus<Element extends HTMLElement>() {
  const element = useRef<Element>(null);
  useLayoutEffect(() => element.current?.querySelector<HTMLElement>("input, textarea, select")?.focus(), []);
  return element;
}
