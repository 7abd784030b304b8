// What the trial of a credential at an address goes through, and how each step ends. Words only.

import type { FailureReason } from "./failure.ts";

/** In this order. */
export const TRIAL_STEPS = [
  "secret",
  "reach",
  "agent",
  "authentication",
  "system",
  "interfaces",
  "addresses",
  "lldp",
  "forwarding",
  "scans",
] as const;
export type TrialStepName = (typeof TRIAL_STEPS)[number];

/** `Unclear` is what cannot be told from here; `Empty` is a table that answers and has no rows. */
export const TRIAL_OUTCOMES = ["Passed", "Failed", "Unclear", "Empty", "NotTried"] as const;
export type TrialOutcome = (typeof TRIAL_OUTCOMES)[number];

/** Beyond those for which a device cannot be read. */
export const TRIAL_REASONS = [
  "secret_unreadable",
  "no_route",
  "nothing_shown",
  "not_assigned",
  "waits_for_confirmation",
  "subnet_refuses",
] as const;
export type TrialReason = FailureReason | (typeof TRIAL_REASONS)[number];

export interface TrialFact {
  readonly name: string;
  /** As text, at most TRIAL_TEXT_MAX_LENGTH characters: what a device says of itself may be anything. */
  readonly value: string;
}

export interface TrialStep {
  readonly step: TrialStepName;
  readonly outcome: TrialOutcome;
  /** Null where there is none to be given. */
  readonly reason: TrialReason | null;
  /** For people; holds no secret. */
  readonly sentence: string;
  readonly duration_ms: number;
  readonly facts: readonly TrialFact[];
}

export const TRIAL_TEXT_MAX_LENGTH = 255;

/** A step of a trial as it ended, that began at `startedMs` by performance.now. */
export function endedStep(
  step: TrialStepName,
  startedMs: number,
  ending: Pick<TrialStep, "outcome" | "sentence"> & Partial<Pick<TrialStep, "reason" | "facts">>,
): TrialStep {
  const { outcome, sentence, reason = null, facts = [] } = ending;
  const duration_ms = Math.max(0, Math.round(performance.now() - startedMs));
  return { step, outcome, reason, sentence, duration_ms, facts };
}

/** A step that nothing came of, since one before it ended the trial. */
export function untriedStep(step: TrialStepName, sentence: string): TrialStep {
  return { step, outcome: "NotTried", reason: null, sentence, duration_ms: 0, facts: [] };
}
