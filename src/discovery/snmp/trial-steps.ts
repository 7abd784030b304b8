// Steps and outcomes of a credential trial at an address. Messages only.

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

/** `Unclear`: cannot be determined from here. `Empty`: the table is served and has no rows. */
export const TRIAL_OUTCOMES = ["Passed", "Failed", "Unclear", "Empty", "NotTried"] as const;
export type TrialOutcome = (typeof TRIAL_OUTCOMES)[number];

/** Reasons in addition to those of a failed read. */
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
  /** As text, at most TRIAL_TEXT_MAX_LENGTH characters: devices may report anything. */
  readonly value: string;
}

export interface TrialStep {
  readonly step: TrialStepName;
  readonly outcome: TrialOutcome;
  /** Null if there is none. */
  readonly reason: TrialReason | null;
  /** User-readable; contains no secret. */
  readonly sentence: string;
  readonly duration_ms: number;
  readonly facts: readonly TrialFact[];
}

export const TRIAL_TEXT_MAX_LENGTH = 255;

/** Builds a completed step that began at `startedMs` by performance.now. */
export function endedStep(
  step: TrialStepName,
  startedMs: number,
  ending: Pick<TrialStep, "outcome" | "sentence"> & Partial<Pick<TrialStep, "reason" | "facts">>,
): TrialStep {
  const { outcome, sentence, reason = null, facts = [] } = ending;
  const duration_ms = Math.max(0, Math.round(performance.now() - startedMs));
  return { step, outcome, reason, sentence, duration_ms, facts };
}

/** Builds a step skipped because an earlier one ended the trial. */
export function untriedStep(step: TrialStepName, sentence: string): TrialStep {
  return { step, outcome: "NotTried", reason: null, sentence, duration_ms: 0, facts: [] };
}
