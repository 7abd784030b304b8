// Request and response schemas for bulk host writes: POST /api/v1/hosts/bulk.

import { type Static, Type } from "@sinclair/typebox";
import { Body, BULK_MAX, CHILDREN_MAX, Name, Nullable, OneOf, Timestamp, Uuid } from "../../schemas/schemas.ts";
import { IfEntryItem } from "../if-entries/if-entry.ts";
import { HostCreate, HostUpdate } from "./host-body.ts";

export const HostBulkItem = Body(
  {
    ...HostCreate.properties,
    id: Type.Optional({
      ...Uuid,
      description:
        "With the id of an existing host, the item updates it. With a never-used id or none, the item creates a host.",
    }),
    network_id: Type.Optional({
      ...Uuid,
      description: "Required to create a host; in an update it must be the host's own.",
    }),
    expected_updated_at: HostUpdate.properties.expected_updated_at,
    interfaces: Type.Optional(
      Nullable(
        Type.Array(IfEntryItem, {
          maxItems: CHILDREN_MAX,
          description:
            "Syncs the host's interface entries to this list, by id, else by if_index; null or omitted: unchanged.",
        }),
      ),
    ),
  },
  { $id: "HostBulkItem", ignored: HostCreate.ignored as string[] },
);
export type HostBulkItem = Static<typeof HostBulkItem>;

export const HostBulk = Type.Array(HostBulkItem, { minItems: 1, maxItems: BULK_MAX });

export const BULK_OPERATIONS = ["Created", "Updated", "Unchanged"] as const;

/** Result of one item. */
export const HostBulkResult = Type.Object(
  {
    id: Uuid,
    name: Name,
    operation: OneOf(BULK_OPERATIONS, { description: "Effect on the host or its children." }),
    updated_at: Timestamp,
  },
  { $id: "HostBulkResult" },
);
export type HostBulkResult = Static<typeof HostBulkResult>;
