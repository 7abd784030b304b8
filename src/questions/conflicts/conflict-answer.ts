// Conflicts as they are answered: who takes part, by name.

import { type Static, Type } from "@sinclair/typebox";
import { Nullable, OneOf, Uuid } from "../../wire/schemas.ts";
import type { NamesThen } from "../activity/names-then.ts";
import { CONFLICT_TYPES, type Conflict, conflictFingerprint, networksOf } from "./conflict.ts";

export const ConflictFingerprint = Type.String({
  pattern: "^[0-9a-f]{64}$",
  description: "The same as long as the same records claim the same thing.",
});

export const ConflictBody = Type.Object(
  {
    type: OneOf(CONFLICT_TYPES, {
      description: "Address: on several hosts. Mac: at several edge ports. Subnet: overlaps one of another network.",
    }),
    value: Type.String({ description: "The address, the MAC address or the prefix." }),
    fingerprint: ConflictFingerprint,
    network_ids: Type.Array(Uuid, { description: "The networks in which it is." }),
    parties: Type.Array(
      Type.Object({
        entity_type: OneOf(["host", "if_entry", "subnet"]),
        id: Uuid,
        name: Type.String(),
        network_id: Uuid,
        host: Nullable(Type.Object({ id: Uuid, name: Type.String() }), { description: "Of a port, the device." }),
      }),
      { description: "Who claims it: hosts, ports or subnets." },
    ),
  },
  { $id: "Conflict" },
);
export type ConflictBody = Static<typeof ConflictBody>;

const PARTIES = { Address: "host", Mac: "if_entry", Subnet: "subnet" } as const;

export function shownConflict(conflict: Conflict, names: NamesThen): ConflictBody {
  return {
    type: conflict.type,
    value: conflict.value,
    fingerprint: conflictFingerprint(conflict),
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
};
