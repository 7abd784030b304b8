// State of the writes from one place: busy, refused, or of unknown outcome. A retry of an unchanged write reuses its
// request key, so that it is carried out once.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import { isUnsure, type Refusal } from "../api/refusal.ts";
import { RequestKeys } from "./request-key.ts";

/** API error code for a key already used with another request. */
export const REUSED = "idempotency_key_reused";

/** Header parameter of a write that is safe to repeat. */
export interface KeyHeader {
  readonly "Idempotency-Key": string;
}

export interface Sent {
  readonly isBusy: boolean;
  readonly problem: Refusal | null;
  /** Whether the outcome of the last write is unknown. Lasts until the outcome of a retry is known. */
  readonly isLost: boolean;
  /**
   * Ignored while another write is pending. Errors are reported as `problem`.
   * @param what complete description of the write, as JSON
   */
  send(what: unknown, write: (header: KeyHeader) => Promise<unknown>): Promise<void>;
  refuse(problem: Refusal | null): void;
}

/** @param sentAs request key of an earlier write of unknown outcome, before a reload */
export function useSending(sentAs: string | null = null): Sent {
  const [{ isBusy, problem, isLost }, setState] = useState({
    isBusy: false,
    problem: null as Refusal | null,
    isLost: sentAs !== null,
  });
  const pending = useRef(false);
  const open = useRef(sentAs);
  const keys = useRef(new RequestKeys());
  const send: Sent["send"] = async (what, write) => {
    if (pending.current) return;
    pending.current = true;
    const text = JSON.stringify(what);
    setState((last) => ({ ...last, isBusy: true, problem: null }));
    let refusal: Refusal | null = null;
    try {
      await write({ "Idempotency-Key": open.current ?? keys.current.of(text) });
    } catch (cause) {
      refusal = asRefusal(cause);
    }
    const isUnknown = refusal !== null && isUnsure(refusal);
    if (!isUnknown) open.current = null;
    if (refusal === null || refusal.code === REUSED) keys.current.settle(text);
    pending.current = false;
    setState({ isBusy: false, problem: refusal, isLost: isUnknown });
  };
  return { isBusy, problem, isLost, send, refuse: (refused) => setState((last) => ({ ...last, problem: refused })) };
}

/** Focuses the first control of an element before it is painted. @returns its ref */
export function useFirstFocus<Element extends HTMLElement>() {
  const element = useRef<Element>(null);
  useLayoutEffect(() => element.current?.querySelector<HTMLElement>("input, textarea, select")?.focus(), []);
  return element;
}
