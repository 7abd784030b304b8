// Where one is on the way to the first map, and what was chosen on it: all in the address, so that it can be reloaded and
// gone back from. Never a secret.

import { hrefHere, parameter } from "../url/location.ts";

export const STEPS = ["machine", "where", "credentials", "scan"] as const;
export type WayStep = (typeof STEPS)[number];

/** The parameters of the address. */
export const WAY = {
  step: "step",
  /** The host that stands for this machine. */
  self: "self",
  /** The subnets that are ticked; without it, those that are so from the beginning. */
  subnets: "subnets",
  /** Targets that are typed. */
  others: "others",
  isLarge: "large",
  credentials: "credentials",
  scan: "scan",
} as const;

/** Of what the address says where no subnet is ticked. */
const NONE = "none";

/** What is asked with; null where nothing was chosen. */
export const CREDENTIAL_CHOICES = ["own", "other", "v2c", "v3", "none"] as const;
export type CredentialChoice = (typeof CREDENTIAL_CHOICES)[number];

export function shownStep(): WayStep {
  return STEPS.find((step) => step === parameter(WAY.step)) ?? STEPS[0];
}

/** @param changes what else is said in the address from then on */
export function hrefOfStep(step: WayStep, changes: Readonly<Record<string, string | null>> = {}): string {
  return hrefHere({ [WAY.step]: step === STEPS[0] ? null : step, ...changes });
}

/** From the beginning, as for another network. */
export function hrefAnew(): string {
  return hrefHere(Object.fromEntries(Object.values(WAY).map((name) => [name, null])));
}

/** CIDRs; null where nobody has said. */
export function tickedSubnets(): readonly string[] | null {
  const said = parameter(WAY.subnets);
  return said === null ? null : said.split(",").filter((each) => each !== NONE && each !== "");
}

/** As the address has them. */
export function subnetsSaid(cidrs: readonly string[]): string {
  return cidrs.length === 0 ? NONE : cidrs.join(",");
}

export function chosenCredentials(): CredentialChoice | null {
  return CREDENTIAL_CHOICES.find((choice) => choice === parameter(WAY.credentials)) ?? null;
}
