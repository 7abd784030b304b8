// State of the wizard in the address: step and choices, so that it survives reloads and supports Back. Never contains a
// secret.

import { hrefHere, parameter } from "../url/location.ts";

export const STEPS = ["machine", "where", "credentials", "scan"] as const;
export type WayStep = (typeof STEPS)[number];

/** Address parameters. */
export const WAY = {
  step: "step",
  /** Host record of this machine. */
  self: "self",
  /** Selected subnets; the default selection if absent. */
  subnets: "subnets",
  /** Typed targets. */
  others: "others",
  isLarge: "large",
  credentials: "credentials",
  scan: "scan",
} as const;

/** Parameter value for no subnet. */
const NONE = "none";

/** Credential choices. */
export const CREDENTIAL_CHOICES = ["own", "other", "v2c", "v3", "none"] as const;
export type CredentialChoice = (typeof CREDENTIAL_CHOICES)[number];

export function shownStep(): WayStep {
  return STEPS.find((step) => step === parameter(WAY.step)) ?? STEPS[0];
}

/** @param changes further parameters to set */
export function hrefOfStep(step: WayStep, changes: Readonly<Record<string, string | null>> = {}): string {
  return hrefHere({ [WAY.step]: step === STEPS[0] ? null : step, ...changes });
}

/** Initial state, such as for another network. */
export function hrefAnew(): string {
  return hrefHere(Object.fromEntries(Object.values(WAY).map((name) => [name, null])));
}

/** CIDRs; null for the default selection. */
export function tickedSubnets(): readonly string[] | null {
  const said = parameter(WAY.subnets);
  return said === null ? null : said.split(",").filter((each) => each !== NONE && each !== "");
}

/** In address form. */
export function subnetsSaid(cidrs: readonly string[]): string {
  return cidrs.length === 0 ? NONE : cidrs.join(",");
}

export function chosenCredentials(): CredentialChoice | null {
  return CREDENTIAL_CHOICES.find((choice) => choice === parameter(WAY.credentials)) ?? null;
}
