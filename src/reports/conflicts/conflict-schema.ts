// Wire format of conflicts, with the names of their parties.

import { type Static, Type } from "@sinclair/typebox";
import { formatInstant } from "../../base/instant.ts";
import { RowFields, type RowList } from "../../records/row-fields.ts";
import { Acceptance, CONFLICT_TYPES, ConflictFingerprint } from "../../resources/conflict-acceptances/acceptance.ts";
import { SIGHTING_KINDS } from "../../resources/sightings.ts";
import { MacText, Nullable, OneOf, Timestamp, Uuid } from "../../schemas/schemas.ts";
import type { PastNames } from "../activity/names-at.ts";
import { type Claim, type Claims, conflictSince } from "./claims.ts";
import { type Conflict, conflictFingerprint, networksOf, type Party } from "./conflict.ts";

const Named = { id: Uuid, name: Type.String() };

export const ConflictBody = Type.Object(
  {
    type: OneOf(CONFLICT_TYPES, {
      description:
        "Address: on several hosts. Mac: at several edge ports. Subnet: overlaps a subnet of another network.",
    }),
    value: Type.String({ description: "The address, the MAC address or the prefix." }),
    fingerprint: ConflictFingerprint,
    network_ids: Type.Array(Uuid, { description: "The networks of the parties." }),
    since: Nullable(Timestamp, {
      description: "When the second of the parties made its claim; null if that part of the history has been pruned.",
    }),
    parties: Type.Array(
      Type.Object({
        entity_type: OneOf(["host", "if_entry", "subnet"]),
        id: Uuid,
        name: Type.String(),
        network_id: Uuid,
        host: Nullable(Type.Object(Named), { description: "The device of a port; otherwise null." }),
        since: Nullable(Timestamp, { description: "Since when it has made its claim without a break." }),
        by: Nullable(
          Type.Object({
            type: OneOf(["User", "ApiKey", "Discovery", "System"]),
            id: Nullable(Uuid),
            name: Type.String(),
          }),
          { description: "Who recorded the claim. Of type `Discovery`: the scan." },
        ),
        mac_address: Nullable(MacText, {
          description: "The MAC address that a host has there, or that a port learned.",
        }),
        port: Nullable(Type.Object({ ...Named, host: Type.Object(Named) }), {
          description: "Of a host: the edge port at which the MAC address is, with its device; null if unknown.",
        }),
        seen_by: Type.Array(
          Type.Object({
            kind: OneOf(SIGHTING_KINDS, {
              description:
                "`Neighbor`: in the ARP or neighbor table of the device. `Own`: a device's report of its own address. `Sweep`: it answered the appliance.",
            }),
            host: Nullable(Type.Object(Named), { description: "The device; null for sweeps." }),
            interface: Nullable(Type.Object(Named), { description: "Its interface; null if unknown." }),
            since: Timestamp,
          }),
          { description: "Who has the host's MAC address at the address, according to the last reads." },
        ),
      }),
      { description: "The hosts, ports or subnets that claim it." },
    ),
    acceptance: Nullable(Acceptance, { description: "The acceptance of the conflict; null if it is not accepted." }),
  },
  { $id: "Conflict" },
);
export type ConflictBody = Static<typeof ConflictBody>;

export const CONFLICT_ROWS: RowList = { name: "conflict", path: "conflicts", row: ConflictBody };
export const CONFLICT_FIELDS = new RowFields(CONFLICT_ROWS);

const PARTIES = { Address: "host", Mac: "if_entry", Subnet: "subnet" } as const;

/** Sources of the fields of a conflict, as of one transaction. */
interface KnownOfConflicts {
  readonly names: PastNames;
  readonly claims: Claims;
  readonly acceptances: ReadonlyMap<string, Acceptance>;
}

export function conflictBody(conflict: Conflict, { names, claims, acceptances }: KnownOfConflicts): ConflictBody {
  const fingerprint = conflictFingerprint(conflict);
  const known = claims.of(conflict);
  const { type, value, parties } = conflict;
  return {
    type,
    value,
    fingerprint,
    network_ids: networksOf(conflict),
    since: conflictSince(known),
    parties: parties.map((party, index) => ({
      entity_type: PARTIES[type],
      ...partyBody(party, known[index] as Claim, names),
    })),
    acceptance: acceptances.get(fingerprint) ?? null,
  };
}

function partyBody({ n, id, networkId }: Party, { since, by, mac, portN, seenBy }: Claim, names: PastNames) {
  const party = names.of(n);
  const port = portN === null ? null : names.of(portN);
  const device = port === null ? null : hostOf(port, names);
  return {
    id,
    name: party?.name ?? "",
    network_id: networkId,
    host: party === null ? null : hostOf(party, names),
    since,
    by,
    mac_address: mac,
    port: port === null || device === null ? null : { id: port.id, name: port.name, host: device },
    seen_by: seenBy.map(({ kind, hostN, interfaceN, since: seenSince }) => ({
      kind,
      host: named(hostN, names),
      interface: named(interfaceN, names),
      since: formatInstant(seenSince),
    })),
  };
}

/** Null for none, and for one that is out of reach. */
function named(n: number | null, names: PastNames) {
  const record = n === null ? null : names.of(n);
  return record === null ? null : { id: record.id, name: record.name };
}

/** The device of a port; null for other records. */
function hostOf({ hostId }: { readonly hostId: string | null }, names: PastNames) {
  const host = hostId === null ? null : names.ofId(hostId);
  return host === null ? null : { id: host.id, name: host.name };
}

export const CONFLICT_EXAMPLE: ConflictBody = {
  type: "Address",
  value: "10.2.3.4",
  fingerprint: "9f2c6d0b1f3a4e5d8c7b6a59483726150f1e2d3c4b5a69788796a5b4c3d2e1f0",
  network_ids: ["01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002"],
  since: "2026-11-21T08:02:11.480Z",
  parties: [
    {
      entity_type: "host",
      id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0010",
      name: "core-1",
      network_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002",
      host: null,
      since: "2026-11-02T10:41:05.020Z",
      by: { type: "User", id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0007", name: "owner@example.net" },
      mac_address: null,
      port: null,
      seen_by: [],
    },
    {
      entity_type: "host",
      id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0011",
      name: "printer-2",
      network_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002",
      host: null,
      since: "2026-11-21T08:02:11.480Z",
      by: { type: "Discovery", id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0040", name: "SNMP scan" },
      mac_address: "00:00:5e:00:53:17",
      port: {
        id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0021",
        name: "Gi1/0/7",
        host: { id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0012", name: "acc-1" },
      },
      seen_by: [
        {
          kind: "Neighbor",
          host: { id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0010", name: "core-1" },
          interface: { id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0023", name: "Vlan20" },
          since: "2026-11-21T08:02:11.480Z",
        },
      ],
    },
  ],
  acceptance: null,
};

export const ACCEPTANCE_EXAMPLE: Acceptance = {
  id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0030",
  type: "Address",
  value: CONFLICT_EXAMPLE.value,
  fingerprint: CONFLICT_EXAMPLE.fingerprint,
  network_ids: CONFLICT_EXAMPLE.network_ids,
  reason: "Both serve the printers until March.",
  accepted_at: "2026-11-21T09:15:00.123Z",
  accepted_by: { type: "User", id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0007", name: "owner@example.net" },
};
