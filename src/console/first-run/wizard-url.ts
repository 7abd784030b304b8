// Wizard state in the URL: step and choices. Never contains a secret.

import { hrefHere, parameter } from "../url/location.ts";

export const STEPS = ["machine", "where", "credentials", "scan"] as const;
export type WizardStep = (typeof STEPS)[number];

/** URL parameters. */
export const WIZARD = {
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

export function shownStep(): WizardStep {
  return STEPS.find((step) => step === parameter(WIZARD.step)) ?? STEPS[0];
}

/** URL of a step. @param changes other parameters to set */
export function hrefOfStep(step: WizardStep, changes: Readonly<Record<string, string | null>> = {}): string {
  return hrefHere({ [WIZARD.step]: step === STEPS[0] ? null : step, ...changes });
}

/** URL of the wizard without any choice, such as for another network. */
export function hrefReset(): string {
  return hrefHere(Object.fromEntries(Object.values(WIZARD).map((name) => [name, null])));
}

/** CIDRs of the selected subnets; null for the default selection. */
export function selectedSubnets(): readonly string[] | null {
  const given = parameter(WIZARD.subnets);
  return given === null ? null : given.split(",").filter((cidr) => cidr !== NONE && cidr !== "");
}

/** Selected subnets as a URL parameter. */
export function subnetsParameter(cidrs: readonly string[]): string {
  return cidrs.length === 0 ? NONE : cidrs.join(",");
}

export function selectedCredentials(): CredentialChoice | null {
  return CREDENTIAL_CHOICES.find((choice) => choice === parameter(WIZARD.credentials)) ?? null;
}
