// Response of GET /api/v1/hosts/{id}/identity: the evidence that the devices at a host's addresses are this host.

import { type Static, Type } from "@sinclair/typebox";
import { formatInstant } from "../../base/instant.ts";
import { HOST_EXAMPLE } from "../../resources/hosts/host-example.ts";
import { IpAddressText, Nullable, OneOf, Timestamp, Uuid } from "../../schemas/schemas.ts";
import { SIGN_GROUPS } from "../sightings.ts";
import { DOUBT_SCORE_MIN, MATCH_SCORE_MIN } from "./identity.ts";
import { type AddressDecision, DECISION_BASES, type WeighedHost } from "./identity-decisions.ts";

const Sign = Type.Object({
  sign: OneOf(SIGN_GROUPS),
  weight: Type.Number({ description: "In bits; negative against a match." }),
  common: Type.Integer({ description: "Number of values in common." }),
  values: Type.Array(Type.String(), { description: "Those in common, else those of the device; 10 at most." }),
  other_values: Type.Optional(
    Type.Array(Type.String(), { description: "Those of the host, if none is in common; 10 at most." }),
  ),
});

const weighed = {
  score: Type.Number({ description: "Sum of the weights." }),
  signs: Type.Array(Sign, { description: "Signs that both have." }),
};

export const HostIdentity = Type.Object(
  {
    host_id: Uuid,
    decision: Type.String({ description: "The newest decision, in one sentence." }),
    match_from: Type.Number({ description: "Score from which a device is a known host." }),
    undecided_from: Type.Number({ description: "Score from which a device may be a known host." }),
    devices: Type.Array(
      Type.Object({
        ip_address: IpAddressText,
        decided_at: Timestamp,
        basis: OneOf(DECISION_BASES, {
          description:
            "Signs: its signs; Address: nothing else was known of the host; LastReport: it reported there before, and could not be read to the end; Consolidated: the signs of a host that was consolidated into this one; Split: its name and serial number or SNMP engine id, after a split from another host; New: a host of its own.",
        }),
        decision: Type.String({ description: "The decision in one sentence." }),
        ...weighed,
        next: Nullable(
          Type.Object({
            host_id: Uuid,
            name: Nullable(Type.String(), { description: "Null if it did not exist at the time of `at`." }),
            ...weighed,
          }),
          { description: "The best of the other candidates; null for none." },
        ),
      }),
      { description: "The devices that answered as this host, the newest decision first." },
    ),
  },
  { $id: "HostIdentity" },
);
export type HostIdentity = Static<typeof HostIdentity>;

const CARD = "00:1b:21:aa:bb:cc";
export const IDENTITY_EXAMPLE: HostIdentity = {
  host_id: HOST_EXAMPLE.id,
  decision: "Known by its serial number and MAC address: 22.9 bits, of 7.8 required.",
  match_from: MATCH_SCORE_MIN,
  undecided_from: DOUBT_SCORE_MIN,
  devices: [
    {
      ip_address: "10.2.3.4",
      decided_at: "2026-11-21T09:15:00.123Z",
      basis: "Signs",
      decision: "Known by its serial number and MAC address: 22.9 bits, of 7.8 required.",
      score: 22.9,
      signs: [
        { sign: "serial_numbers", weight: 9.9, common: 1, values: ["ac1408z61u"] },
        { sign: "cards", weight: 13, common: 1, values: [CARD] },
      ],
      next: null,
    },
  ],
};

/** @param nameOf name of a host at the time; null if it did not exist */
export function identityOf(
  hostId: string,
  decisions: readonly AddressDecision[],
  nameOf: (id: string) => string | null,
): HostIdentity {
  const devices = decisions.map((each) => {
    const { known, next, basis } = each.decision;
    return {
      ip_address: each.ip_address,
      decided_at: formatInstant(each.decided_at),
      basis,
      decision: sentenceOf(each, nameOf),
      ...roundedOf(known),
      next: next === null ? null : { host_id: next.host_id, name: nameOf(next.host_id), ...roundedOf(next) },
    };
  });
  return {
    host_id: hostId,
    decision: devices[0]?.decision ?? "No device has responded to SNMP as this host.",
    match_from: MATCH_SCORE_MIN,
    undecided_from: DOUBT_SCORE_MIN,
    devices,
  };
}

function roundedOf(host: WeighedHost | null): { score: number; signs: Static<typeof Sign>[] } {
  const signs = (host?.signs ?? []).map(({ values, other_values, weight, ...sign }) => ({
    ...sign,
    weight: rounded(weight),
    values: [...values],
    ...(other_values === undefined ? {} : { other_values: [...other_values] }),
  }));
  return { score: rounded(host?.score ?? 0), signs };
}

/** Rounds to a tenth of a bit. */
function rounded(bits: number): number {
  return Math.round(bits * 10) / 10;
}

function sentenceOf(
  { ip_address, decision: { basis, known, next } }: AddressDecision,
  nameOf: (id: string) => string | null,
): string {
  if (basis === "Address") return `Known by its address ${ip_address}, as nothing else was known of the host.`;
  if (basis === "LastReport") return `Known by its last report at ${ip_address}, as it could not be read to the end.`;
  if (basis === "Consolidated")
    return `Known by the ${known?.same ?? "signs"} of a host that was consolidated into this one.`;
  if (basis === "Split") return `Known by its ${known?.same ?? "signs"}, after a split from another host.`;
  if (basis === "Signs")
    return `Known by its ${known?.same ?? "signs"}: ${rounded(known?.score ?? 0)} bits, of ${MATCH_SCORE_MIN} required.`;
  if (next === null) return "A new host: it shared no sign with another one.";
  const name = nameOf(next.host_id) ?? "A former host";
  const differing = next.other === null ? "" : `, but another ${next.other}`;
  const signs = next.same === null ? "no sign in common" : `the same ${next.same}${differing}`;
  const bits = `${rounded(next.score)} bits, of ${MATCH_SCORE_MIN} required`;
  if (next.score >= MATCH_SCORE_MIN)
    return `A host of its own: ${name} has ${signs}, but another device answered as it in the same scan.`;
  if (next.score >= DOUBT_SCORE_MIN) return `Undecided, so a host of its own: ${name} has ${signs} (${bits}).`;
  return `A host of its own: ${name} has ${signs} (${bits}).`;
}
