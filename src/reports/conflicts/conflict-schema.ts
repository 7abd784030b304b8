// Wire format of conflicts, with the names of their parties.

import { type Static, Type } from "@sinclair/typebox";
import { RowFields, type RowList } from "../../records/row-fields.ts";
import { Acceptance, CONFLICT_TYPES, ConflictFingerprint } from "../../resources/conflict-acceptances/acceptance.ts";
import { Nullable, OneOf, Uuid } from "../../schemas/schemas.ts";
import type { PastNames } from "../activity/names-at.ts";
import { type Conflict, conflictFingerprint, networksOf } from "./conflict.ts";

export const ConflictBody = Type.Object(
  {
    type: OneOf(CONFLICT_TYPES, {
      description:
        "Address: on several hosts. Mac: at several edge ports. Subnet: overlaps a subnet of another network.",
    }),
    value: Type.String({ description: "The address, the MAC address or the prefix." }),
    fingerprint: ConflictFingerprint,
    network_ids: Type.Array(Uuid, { description: "The networks of the parties." }),
    parties: Type.Array(
      Type.Object({
        entity_type: OneOf(["host", "if_entry", "subnet"]),
        id: Uuid,
        name: Type.String(),
        network_id: Uuid,
        host: Nullable(Type.Object({ id: Uuid, name: Type.String() }), {
          description: "The device that has the port; null for other parties.",
        }),
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

export function conflictBody(
  conflict: Conflict,
  names: PastNames,
  acceptances: ReadonlyMap<string, Acceptance>,
): ConflictBody {
  const fingerprint = conflictFingerprint(conflict);
  return {
    type: conflict.type,
    value: conflict.value,
    fingerprint,
    network_ids: networksOf(conflict),
    parties: conflict.parties.map(({ n, id, networkId }) => {
      const party = names.of(n);
      const host = party?.hostId == null ? null : names.ofId(party.hostId);
      return {
        entity_type: PARTIES[conflict.type],
        id,
        name: party?.name ?? "",
        network_id: networkId,
        host: host === null ? null : { id: host.id, name: host.name },
      };
    }),
    acceptance: acceptances.get(fingerprint) ?? null,
  };
}

export const CONFLICT_EXAMPLE: ConflictBody = {
  type: "Address",
  value: "10.2.3.4",
  fingerprint: "9f2c6d0b1f3a4e5d8c7b6a59483726150f1e2d3c4b5a69788796a5b4c3d2e1f0",
  network_ids: ["01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002"],
  parties: [
    {
      entity_type: "host",
      id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0010",
      name: "core-1",
      network_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002",
      host: null,
    },
    {
      entity_type: "host",
      id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0011",
      name: "printer-2",
      network_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002",
      host: null,
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
