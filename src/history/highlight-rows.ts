// Response schema of a transaction's highlights.

import { type Static, Type } from "@sinclair/typebox";
import { MacText, Nullable, OneOf, Uuid } from "../schemas/schemas.ts";
import { CHANGE_TYPES, OPERATIONS } from "./change-view.ts";

/** Maximum changes listed by name. */
export const HIGHLIGHTS_MAX = 12;
/** Maximum characters of a string value. */
export const VALUE_TEXT_MAX = 200;
/** Maximum items of a list value. */
export const VALUE_ITEMS_MAX = 20;

const NullableName = Nullable(Type.String(), { description: "Null for a record that has no name." });
const NamedRecord = Type.Object({ id: Uuid, name: NullableName }, { $id: "HighlightNamed" });
const Port = Type.Object({ id: Uuid, name: NullableName, host: Nullable(NamedRecord) }, { $id: "HighlightPort" });

const EntityType = OneOf(CHANGE_TYPES);

const HighlightField = Type.Object(
  {
    field: Type.String(),
    from: Type.Optional(
      Type.Unknown({ description: "The previous value. Omitted together with `to`, and where history was thinned." }),
    ),
    to: Type.Optional(
      Type.Unknown({
        description: `The new value. A reference is \`{id, name}\`, with a null name if out of reach; strings are cut to ${VALUE_TEXT_MAX} characters. Omitted for objects, lists of more than ${VALUE_ITEMS_MAX} items, and fields whose content depends on the caller's reach.`,
      }),
    ),
  },
  { $id: "HighlightField" },
);
export type HighlightField = Static<typeof HighlightField>;

const HighlightedRecord = Type.Object(
  {
    type: OneOf(["Created", "Updated", "Deleted"] as const),
    entity_type: EntityType,
    id: Uuid,
    name: NullableName,
    host: Nullable(NamedRecord, { description: "The host that the record is part of." }),
    fields: Type.Array(HighlightField, {
      description: "The fields that an update changed, most significant first; empty if the record is new or deleted.",
    }),
  },
  { $id: "HighlightedRecord" },
);
export type HighlightedRecord = Static<typeof HighlightedRecord>;

const HighlightedStation = Type.Object(
  {
    type: Type.Literal("StationMoved"),
    mac_address: MacText,
    station: Nullable(NamedRecord, { description: "The host known to have the MAC address." }),
    from: Port,
    to: Port,
  },
  { $id: "HighlightedStation", description: "A MAC address that moved from one edge port to another." },
);
export type HighlightedStation = Static<typeof HighlightedStation>;

const HighlightedAddress = Type.Object(
  { type: Type.Literal("AddressMoved"), id: Uuid, ip_address: Type.String(), from: NamedRecord, to: NamedRecord },
  { $id: "HighlightedAddress", description: "An IP address that moved from one host to another." },
);
export type HighlightedAddress = Static<typeof HighlightedAddress>;

export type Highlight = HighlightedRecord | HighlightedStation | HighlightedAddress;

const HighlightRest = Type.Object(
  {
    entity_type: EntityType,
    operation: OneOf(OPERATIONS),
    field: Nullable(Type.String(), { description: "For updates, the most significant field that changed." }),
    count: Type.Integer({ minimum: 1 }),
  },
  { $id: "HighlightRest" },
);
export type HighlightRest = Static<typeof HighlightRest>;

/** Fields added by `include=highlights`. */
export const Highlights = Type.Object(
  {
    changes: Type.Array(Type.Union([HighlightedRecord, HighlightedStation, HighlightedAddress]), {
      description: `At most ${HIGHLIGHTS_MAX}, most significant first: new and deleted hosts, stations that moved between ports, addresses that moved between hosts, interfaces up or down, and values that a user set.`,
    }),
    rest: Type.Array(HighlightRest, {
      description: "Counts of its other changes. A version caused only by a record's parts counts once, with the part.",
    }),
  },
  { $id: "TransactionHighlights" },
);

export const HIGHLIGHTS_EXAMPLE: Static<typeof Highlights> = {
  changes: [
    {
      type: "Updated",
      entity_type: "if_entry",
      id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0011",
      name: "Gi1/0/7",
      host: { id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0010", name: "access-4" },
      fields: [{ field: "oper_status", from: "Up", to: "Down" }],
    },
  ],
  rest: [{ entity_type: "port", operation: "Created", field: null, count: 2 }],
};
