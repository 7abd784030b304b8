// Ignored entry: a deleted record that discovery must not recreate until the entry is deleted.

import { type Static, Type } from "@sinclair/typebox";
import { integer, sqliteTable } from "drizzle-orm/sqlite-core";
import { textSortKey } from "../../base/text.ts";
import { wordList } from "../../base/word-list.ts";
import { type Kind, liveColumns } from "../../db/kind.ts";
import { Body, Nullable, OneOf, recordFields, Uuid } from "../../schemas/schemas.ts";
import { hosts } from "../hosts/host.ts";
import { requiredReference } from "../live-columns.ts";
import { networks } from "../networks/network.ts";
import { RECORD_EXAMPLE, type RecordOf } from "../record.ts";

/** Kinds created by discovery that a user can have ignored. */
export const IGNORED_ENTITIES = wordList("host ip_address if_entry port service binding subnet vlan");
export type IgnoredEntity = (typeof IGNORED_ENTITIES)[number];

export const ignored = sqliteTable("ignored", {
  ...liveColumns,
  network_n: requiredReference(() => networks.n),
  host_n: integer().references(() => hosts.n),
});

export const ignoredKind: Kind<IgnoredRecord> = {
  name: "ignored",
  plural: "ignored",
  words: { one: "ignored entry", many: "ignored entries" },
  label: ({ label }) => label,
  code: 18,
  table: ignored,
  scopes: { network: "network_id", host: "host_id" },
  references: [
    { to: "network", field: "network_id" },
    { to: "host", field: "host_id" },
  ],
  observed: [],
  absent: "null",
  identity: (record) => ignoredIdentity(record.entity, record.identity),
  unique: { field: "identity", value: (record) => record.identity },
  indexedNames: ({ label, signs }) => [
    { field: "label", value: label, as: "Name" },
    ...signs.map((sign) => ({ field: "signs", value: sign.slice(sign.indexOf(":") + 1), as: "Text" }) as const),
  ],
  sortKeys: { label: textSortKey },
};

/**
 * Identity of an ignored entry, for tx.findByIdentity.
 * @param identity from the kind of the record: `if_entry/<host id>/<if_index>`; for a host its id
 */
export function ignoredIdentity(entity: IgnoredEntity, identity: string): string {
  return `${entity}/${identity}`;
}

/** Whether records of a kind can be ignored. */
export function isIgnorable(entity: string): entity is IgnoredEntity {
  return (IGNORED_ENTITIES as readonly string[]).includes(entity);
}

export const Ignored = Type.Object(
  {
    id: Uuid,
    network_id: Uuid,
    entity: OneOf(IGNORED_ENTITIES, { description: "The kind of the deleted record." }),
    record_id: Type.String({ ...Uuid, description: "The id of the deleted record." }),
    host_id: Nullable(Uuid, { description: "The record's host; null for a host, a subnet or a VLAN." }),
    /** Identity by the kind's rule; the id for a host, whose name can change. */
    identity: Type.String({ description: "The record's identity within its kind." }),
    label: Type.String({ description: "The record's name, address or prefix." }),
    signs: Type.Array(Type.String(), {
      description:
        "Signs by which scans recognize the record: for a host such as `serial:FOC1234`, `mac:00:1b:21:aa:bb:cc` and `ip:10.2.3.4`; for an interface entry its names, such as `if_name:Gi0/2`.",
    }),
    ...recordFields,
  },
  { $id: "Ignored" },
);
export const IgnoredCreate = Body(
  {
    entity: OneOf(IGNORED_ENTITIES, { description: "The kind of the record." }),
    record_id: Type.String({
      ...Uuid,
      description: "A present record, which is deleted in the same transaction, or a deleted one.",
    }),
  },
  { $id: "IgnoredCreate" },
);
export type IgnoredCreate = Static<typeof IgnoredCreate>;

export interface IgnoredRecord extends RecordOf<typeof Ignored> {}

export const IGNORED_EXAMPLE: Static<typeof Ignored> = {
  id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0018",
  network_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002",
  entity: "host",
  record_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0021",
  host_id: null,
  identity: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0021",
  label: "printer-7",
  signs: ["name:printer-7", "mac:00:1b:21:aa:bb:cc", "ip:10.2.3.17"],
  ...RECORD_EXAMPLE,
};
