// What clients send and get in a bulk write of hosts: POST /api/v1/hosts/bulk.

import { type Static, Type } from "@sinclair/typebox";
import { Body, BULK_MAX, CHILDREN_MAX, Name, Nullable, OneOf, Timestamp, Uuid } from "../../wire/schemas.ts";
import { IfEntryItem } from "../if-entries/if-entry.ts";
import { HostCreate, HostUpdate } from "./host-body.ts";

export const HostBulkItem = Body(
  {
    ...HostCreate.properties,
    id: Type.Optional({
      ...Uuid,
      description:
        "Of a host that is there: the item updates it. One that was never used, or none: the item creates a host.",
    }),
    network_id: Type.Optional({
      ...Uuid,
      description: "Required of an item that creates; the host's own in one that updates.",
    }),
    expected_updated_at: HostUpdate.properties.expected_updated_at,
    interfaces: Type.Optional(
      Nullable(
        Type.Array(IfEntryItem, {
          maxItems: CHILDREN_MAX,
          description:
            "The host's interface entries are made to match, by id and else by if_index; null or left out: as they are.",
        }),
      ),
    ),
  },
  { $id: "HostBulkItem", ignored: HostCreate.ignored as string[] },
);
export type HostBulkItem = Static<typeof HostBulkItem>;

export const HostBulk = Type.Array(HostBulkItem, { minItems: 1, maxItems: BULK_MAX });

export const BULK_OPERATIONS = ["Created", "Updated", "Unchanged"] as const;

/** What became of one item. */
export const HostBulkResult = Type.Object(
  {
    id: Uuid,
    name: Name,
    operation: OneOf(BULK_OPERATIONS, { description: "What was done to the host or to anything that belongs to it." }),
    updated_at: Timestamp,
  },
  { $id: "HostBulkResult" },
);
export type HostBulkResult = Static<typeof HostBulkResult>;
