// A write of many records that is read before it is done: planned, done as it was planned, and planned again where it
// would come to anything else by then.

import { useRef, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { newRequestKey } from "./request-key.ts";

/** How it is sent. */
export interface PlanSending {
  /** Of the plan that was read; null to be told what it comes to. */
  readonly quoted: string | null;
  /** Of newRequestKey(): what was done for it is not done again. */
  readonly key: string;
}

interface UsedPlan<P> {
  /** What it comes to; null before that is asked, and once it is not asked any more. */
  readonly plan: P | null;
  /** Whether it came to something else when it was to be done. */
  readonly isReplanned: boolean;
  readonly problem: Refusal | null;
  /** Whether the problem is what became of the write, and not of a look. */
  readonly isOfWrite: boolean;
  readonly isBusy: boolean;
  /** Asks what it comes to. */
  look(): Promise<void>;
  /** Does what was read. @param done with what it came to */
  write(done: (written: P) => void): Promise<void>;
  /** What is to be written is another thing now. */
  drop(): void;
  refuse(problem: Refusal | null): void;
}

/** @param run throws Refusal, `entity_stale` where the plan that is quoted is none any more */
export function usePlan<P extends { readonly plan: string }>(run: (sending: PlanSending) => Promise<P>): UsedPlan<P> {
  const [plan, setPlan] = useState<P | null>(null);
  const [isReplanned, setReplanned] = useState(false);
  const [problem, setProblem] = useState<Refusal | null>(null);
  const [isOfWrite, setOfWrite] = useState(false);
  const [isBusy, setBusy] = useState(false);
  /** Counts what was to be written: a look at what it was before tells nothing of what it is now. */
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
