// Preview and execution of a bulk write. A write whose plan has changed is planned again.

import { useRef, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { useSending } from "../forms/sending.ts";

/** Options of a request. */
export interface PlanSending {
  /** Fingerprint of the plan shown; null for a dry run. */
  readonly quoted: string | null;
  /** From newRequestKey(): the API carries out a key only once. */
  readonly key: string;
}

interface UsedPlan<P> {
  /** Effects; null before the dry run, and after `drop`. */
  readonly plan: P | null;
  /** Whether the effects changed between preview and write. */
  readonly isReplanned: boolean;
  readonly problem: Refusal | null;
  /** Whether the problem concerns the write, not a preview. */
  readonly isOfWrite: boolean;
  readonly isBusy: boolean;
  /** Requests the plan. */
  look(): Promise<void>;
  /** Carries out the plan shown. @param done called with the result */
  write(done: (written: P) => void): Promise<void>;
  /** Discards the plan after a change of the input. */
  drop(): void;
  refuse(problem: Refusal | null): void;
}

/** @param run throws Refusal, with `entity_stale` if the quoted plan is outdated */
export function usePlan<P extends { readonly plan: string }>(run: (sending: PlanSending) => Promise<P>): UsedPlan<P> {
  const [plan, setPlan] = useState<P | null>(null);
  const [isReplanned, setReplanned] = useState(false);
  const [isOfWrite, setOfWrite] = useState(false);
  const { isBusy, problem, send, refuse } = useSending();
  /** Counts changes of the input, so that the response to an earlier preview is ignored. */
  const turn = useRef(0);
  const look = async (key: string, isAgain: boolean) => {
    const looked = turn.current;
    setOfWrite(false);
    try {
      const told = await run({ quoted: null, key });
      if (looked !== turn.current) return;
      setPlan(told);
      setReplanned(isAgain);
    } catch (cause) {
      if (looked !== turn.current) return;
      setPlan(null);
      throw cause;
    }
  };
  const write = async (done: (written: P) => void, key: string, quoted: string) => {
    try {
      done(await run({ quoted, key }));
    } catch (cause) {
      if (asRefusal(cause).code === "entity_stale") return look(key, true);
      setOfWrite(true);
      throw cause;
    }
  };
  return {
    plan,
    isReplanned,
    problem,
    isOfWrite,
    isBusy,
    look: () => send(turn.current, (header) => look(header["Idempotency-Key"], false)),
    write: async (done) => {
      if (plan !== null) await send(plan.plan, (header) => write(done, header["Idempotency-Key"], plan.plan));
    },
    drop: () => {
      turn.current += 1;
      setPlan(null);
    },
    refuse: (refused) => {
      setOfWrite(false);
      refuse(refused);
    },
  };
}
