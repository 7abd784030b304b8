// Credential trial at an address: request, response and limits. Schemas and messages only.

import { type Static, Type } from "@sinclair/typebox";
import { CREDENTIAL_EXAMPLE } from "../../resources/credentials/credential.ts";
import { IP_ADDRESS_EXAMPLE } from "../../resources/ip-addresses/ip-address.ts";
import { Body, IpAddressText, Nullable, OneOf, Uuid } from "../../schemas/schemas.ts";
import { FAILURE_REASONS } from "../snmp/failure.ts";
import {
  type TrialStep as Step,
  TRIAL_OUTCOMES,
  TRIAL_REASONS,
  TRIAL_STEPS,
  TRIAL_TEXT_MAX_LENGTH,
} from "../snmp/trial-steps.ts";

/** Concurrent trials, in total and per user including the user's API keys. */
export const TRIALS_MAX = 8;
export const TRIALS_OF_USER_MAX = 2;
/** Deadline of the reachability check. */
export const REACH_DEADLINE_MS = 4_000;

export const CredentialTry = Body({
  network_id: Uuid,
  ip_address: IpAddressText,
});
export type CredentialTry = Static<typeof CredentialTry>;

const TrialStep = Type.Object(
  {
    step: OneOf(TRIAL_STEPS, {
      description:
        "`secret`: whether it can be read. `reach`: whether the address responds at all. `agent`: whether an SNMP agent is running. `authentication`: whether it accepts the credential. `system`: whether it identifies itself. `interfaces`, `addresses`, `lldp`, `forwarding`: whether the tables that a scan reads are served. `scans`: whether a scan of the network sends the credential there.",
    }),
    outcome: OneOf(TRIAL_OUTCOMES, {
      description:
        "`Unclear`: the cause cannot be determined from here; `Empty`: a table without rows; `NotTried`: an earlier step made it useless.",
    }),
    reason: Nullable(OneOf([...FAILURE_REASONS, ...TRIAL_REASONS])),
    sentence: Type.String({ description: "The result and possible remedies. Contains no secret." }),
    duration_ms: Type.Integer({ minimum: 0 }),
    facts: Type.Array(
      Type.Object({
        name: Type.String(),
        value: Type.String({
          maxLength: TRIAL_TEXT_MAX_LENGTH,
          description: "Text reported by the device: it may contain anything.",
        }),
      }),
    ),
  },
  { $id: "CredentialTrialStep" },
);

export const CredentialTrial = Type.Object(
  {
    credential_id: Uuid,
    network_id: Uuid,
    ip_address: IpAddressText,
    is_working: Type.Boolean({ description: "Whether the device identifies itself with this credential." }),
    conclusion: Type.String({ description: "The sentence of the deciding step." }),
    duration_ms: Type.Integer({ minimum: 0 }),
    steps: Type.Array(TrialStep),
  },
  { $id: "CredentialTrial" },
);
export type CredentialTrial = Static<typeof CredentialTrial>;

/** Request sent to the scanning thread. */
export interface TrialRequest {
  readonly credential_id: string;
  readonly network_id: string;
  readonly ip_address: string;
}

/** Concludes a trial: the first failed step decides, else the first unclear one, among those required for reading. */
export function concludeTrial(request: TrialRequest, steps: readonly Step[]): CredentialTrial {
  const isWorking = steps.some(({ step, outcome }) => step === "system" && outcome === "Passed");
  const { credential_id, network_id, ip_address } = request;
  return {
    credential_id,
    network_id,
    ip_address,
    is_working: isWorking,
    conclusion: (isWorking ? workingSentence(steps) : failingStep(steps)?.sentence) ?? "Nothing was tried.",
    duration_ms: steps.reduce((sum, { duration_ms }) => sum + duration_ms, 0),
    steps: steps.map((step) => ({ ...step, facts: [...step.facts] })),
  };
}

/** The ping result is not decisive: many devices do not respond. */
const DECIDING = ["secret", "agent", "authentication", "system"] as const satisfies readonly Step["step"][];

/** A refused credential is more informative than an unclear agent. */
function failingStep(steps: readonly Step[]): Step | undefined {
  const deciding = DECIDING.flatMap((name) => steps.filter(({ step }) => step === name));
  return deciding.find(({ outcome }) => outcome === "Failed") ?? deciding.find(({ outcome }) => outcome === "Unclear");
}

function workingSentence(steps: readonly Step[]): string {
  const scans = steps.find(({ step }) => step === "scans");
  return scans === undefined || scans.outcome === "Passed"
    ? "It works: the device accepts this credential."
    : `It works: the device accepts this credential. ${scans.sentence}`;
}

export const TRIAL_EXAMPLE: CredentialTrial = {
  credential_id: CREDENTIAL_EXAMPLE.id,
  network_id: CREDENTIAL_EXAMPLE.assigned_network_ids[0] as string,
  ip_address: IP_ADDRESS_EXAMPLE.ip_address,
  is_working: false,
  conclusion:
    "It ignores this community: it is wrong, not permitted from this address, or the device does not accept SNMPv2c.",
  duration_ms: 2_563,
  steps: [
    {
      step: "secret",
      outcome: "Passed",
      reason: null,
      sentence: "The secret can be read: it is stored here.",
      duration_ms: 1,
      facts: [],
    },
    {
      step: "reach",
      outcome: "Passed",
      reason: null,
      sentence: "The address responds (ICMP).",
      duration_ms: 12,
      facts: [],
    },
    {
      step: "agent",
      outcome: "Passed",
      reason: null,
      sentence: "An SNMP agent is running: it responds to SNMPv3 discovery, which requires no secret.",
      duration_ms: 14,
      facts: [{ name: "engine_id", value: "80001f8880e9630000d61ff449" }],
    },
    {
      step: "authentication",
      outcome: "Failed",
      reason: "no_answer",
      sentence:
        "It ignores this community: it is wrong, not permitted from this address, or the device does not accept SNMPv2c.",
      duration_ms: 2_536,
      facts: [],
    },
  ],
};
