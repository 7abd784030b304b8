// Preview and execution of a bulk write. If the plan has changed in the meantime, the new plan is shown first.

import { useRef, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { useWrite } from "../forms/use-write.ts";

/** Options of a request. */
export interface PlanRunOptions {
  /** Fingerprint of the plan shown; null for a dry run. */
  readonly fingerprint: string | null;
  /** Idempotency key, from newRequestKey(). */
  readonly key: string;
}

interface PlanState<P> {
  /** Plan to show; null before the dry run, and after `drop`. */
  readonly plan: P | null;
  /** Whether the effects changed between preview and write. */
  readonly isReplanned: boolean;
  readonly problem: Refusal | null;
  /** Whether the problem concerns the write rather than a preview. */
  readonly isWriteProblem: boolean;
  readonly isBusy: boolean;
  /** Requests the plan. */
  preview(): Promise<void>;
  /** Carries out the plan shown. @param done called with the result */
  write(done: (written: P) => void): Promise<void>;
  /** Discards the plan after the input has changed. */
  drop(): void;
  refuse(problem: Refusal | null): void;
}

/** @param run throws Refusal, with `entity_stale` if the plan is outdated */
export function usePlan<P extends { readonly plan: string }>(
  run: (options: PlanRunOptions) => Promise<P>,
): PlanState<P> {
  const [plan, setPlan] = useState<P | null>(null);
  const [isReplanned, setReplanned] = useState(false);
  const [isWriteProblem, setWriteProblem] = useState(false);
  const { isBusy, problem, send, refuse } = useWrite();
  /** Counts changes of the input, so that the response to an outdated preview is ignored. */
  const inputRevision = useRef(0);
  const preview = async (key: string, isRepeat: boolean) => {
    const startRevision = inputRevision.current;
    setWriteProblem(false);
    try {
      const newPlan = await run({ fingerprint: null, key });
      if (startRevision !== inputRevision.current) return;
      setPlan(newPlan);
      setReplanned(isRepeat);
    } catch (cause) {
      if (startRevision !== inputRevision.current) return;
      setPlan(null);
      throw cause;
    }
  };
  const write = async (done: (written: P) => void, key: string, fingerprint: string) => {
    try {
      done(await run({ fingerprint, key }));
    } catch (cause) {
      if (asRefusal(cause).code === "entity_stale") return preview(key, true);
      setWriteProblem(true);
      throw cause;
    }
  };
  return {
    plan,
    isReplanned,
    problem,
    isWriteProblem,
    isBusy,
    preview: () => send(inputRevision.current, (header) => preview(header["Idempotency-Key"], false)),
    write: async (done) => {
      if (plan !== null) await send(plan.plan, (header) => write(done, header["Idempotency-Key"], plan.plan));
    },
    drop: () => {
      inputRevision.current += 1;
      setPlan(null);
    },
    refuse: (refusal) => {
      setWriteProblem(false);
      refuse(refusal);
    },
  };
}
