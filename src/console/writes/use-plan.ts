// Preview and execution of a bulk write. A write whose plan has changed is planned again.

import { useRef, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { newRequestKey } from "../forms/request-key.ts";

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
  const [problem, setProblem] = useState<Refusal | null>(null);
  const [isOfWrite, setOfWrite] = useState(false);
  const [isBusy, setBusy] = useState(false);
  /** Counts changes of the input, so that the response to an earlier preview is ignored. */
  const turn = useRef(0);
  const key = useRef(newRequestKey());
  const look = async (isAgain: boolean) => {
    const looked = turn.current;
    setBusy(true);
    setProblem(null);
    setOfWrite(false);
    try {
      const told = await run({ quoted: null, key: key.current });
      key.current = newRequestKey();
      if (looked === turn.current) {
        setPlan(told);
        setReplanned(isAgain);
      }
    } catch (cause) {
      if (looked === turn.current) {
        setPlan(null);
        setProblem(asRefusal(cause));
      }
    }
    setBusy(false);
  };
  const write = async (done: (written: P) => void) => {
    if (plan === null || isBusy) return;
    setBusy(true);
    setProblem(null);
    try {
      done(await run({ quoted: plan.plan, key: key.current }));
    } catch (cause) {
      const refusal = asRefusal(cause);
      if (refusal.code === "entity_stale") return look(true);
      setOfWrite(true);
      setProblem(refusal);
      setBusy(false);
    }
  };
  return {
    plan,
    isReplanned,
    problem,
    isOfWrite,
    isBusy,
    look: () => look(false),
    write,
    drop: () => {
      turn.current += 1;
      setPlan(null);
    },
    refuse: (refused) => {
      setOfWrite(false);
      setProblem(refused);
    },
  };
}
