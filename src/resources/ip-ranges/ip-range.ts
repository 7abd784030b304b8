// IP range: consecutive addresses within a subnet, and their purpose.

import { type Static, Type } from "@sinclair/typebox";
import { sqliteTable, text } from "drizzle-orm/sqlite-core";
import { namesOf } from "../../base/fields.ts";
import { type Ip, ipSortKey, parseIp } from "../../base/ip.ts";
import { type Kind, liveColumns } from "../../db/kind.ts";
import {
  Body,
  Description,
  IpAddressText,
  Nullable,
  OneOf,
  RECORD_READ_ONLY,
  recordFields,
  TagIds,
  Uuid,
} from "../../schemas/schemas.ts";
import { customFieldsOfBody, customFieldsOfResponse, namesAndValuesIn } from "../custom-fields/field-values.ts";
import { requiredReference } from "../live-columns.ts";
import { networks } from "../networks/network.ts";
import { RECORD_EXAMPLE, type RecordOf, type WriteSchemas } from "../record.ts";
import { withoutListItem } from "../references.ts";
import { subnets } from "../subnets/subnet.ts";
import { EXCLUSIVE_PURPOSES, RANGE_PURPOSES } from "./range-purpose.ts";

export const ipRanges = sqliteTable("ip_ranges", {
  ...liveColumns,
  network_n: requiredReference(() => networks.n),
  subnet_n: requiredReference(() => subnets.n),
  claims_first: text(),
  claims_last: text(),
});

export const ipRangeKind: Kind<IpRangeRecord> = {
  name: "ip_range",
  plural: "ip_ranges",
  words: { one: "IP range", many: "IP ranges" },
  label: rangeText,
  code: 20,
  table: ipRanges,
  columns: (range, n) => ({
    subnet_n: n(range.subnet_id),
    claims_first: isExclusive(range) ? addressKey(range.first) : null,
    claims_last: isExclusive(range) ? addressKey(range.last) : null,
  }),
  scopes: { network: "network_id" },
  countedWith: ["subnet_id"],
  references: [
    { to: "subnet", field: "subnet_id", refuses: true },
    { to: "tag", field: "tags", without: withoutListItem("tags") },
  ],
  groups: { names: ["subnet_id"] },
  links: (range) => [{ relation: "tags", ids: range.tags }],
  observed: [],
  absent: "null",
  identity: (range) => `${range.network_id}/${rangeText(range)}`,
  unique: null,
  indexedNames: namesAndValuesIn<IpRangeRecord>({ first: "Address", last: "Address", description: "Text" }),
  sortKeys: { first: addressKey, last: addressKey },
};

/** Ends of a range, for comparison. */
export type RangeEnds = Pick<IpRangeRecord, "first" | "last">;

/** Whether a range reserves its addresses exclusively. */
export function isExclusive({ purpose }: Pick<IpRangeRecord, "purpose">): boolean {
  return EXCLUSIVE_PURPOSES.includes(purpose);
}

/** Key whose text order is the address order. @param address as stored in a record */
export function addressKey(address: string): string {
  return ipSortKey(parseIp(address) as Ip);
}

/** Display notation: `10.2.3.200-10.2.3.219`, or a single address. */
export function rangeText({ first, last }: RangeEnds): string {
  return first === last ? first : `${first}-${last}`;
}

const identifying = { id: Type.Optional(Uuid), organization_id: Type.Optional(Uuid) };
const writeFields = {
  subnet_id: Type.Optional(
    Nullable(Uuid, { description: "Default: the most specific subnet of the network that contains both ends." }),
  ),
  first: IpAddressText,
  last: Type.String({ ...IpAddressText, description: "Of the same version as `first`, and not before it." }),
  purpose: OneOf(RANGE_PURPOSES, { description: "No two ranges of purpose Dhcp or Reserved share an address." }),
  description: Type.Optional(Nullable(Description)),
  tags: Type.Optional(TagIds),
} satisfies WriteSchemas<IpRangeRecord, "network_id" | "custom_fields">;
export const IP_RANGE_WRITE_FIELDS = namesOf(writeFields);

export const IpRangeCreate = Body(
  { network_id: Uuid, ...identifying, ...writeFields, ...customFieldsOfBody },
  { ignored: RECORD_READ_ONLY },
);
export const IpRangeUpdate = Body(
  { network_id: Type.Optional(Uuid), ...identifying, ...writeFields, ...customFieldsOfBody },
  { ignored: RECORD_READ_ONLY },
);
export type IpRangeCreate = Static<typeof IpRangeCreate>;
export type IpRangeUpdate = Static<typeof IpRangeUpdate>;

export const IpRange = Type.Object(
  {
    id: Uuid,
    network_id: Uuid,
    subnet_id: Uuid,
    /** Canonical (RFC 5952), like `last`. */
    first: IpAddressText,
    last: IpAddressText,
    purpose: OneOf(RANGE_PURPOSES),
    description: Nullable(Description),
    tags: TagIds,
    ...customFieldsOfResponse,
    ...recordFields,
  },
  { $id: "IpRange" },
);
export interface IpRangeRecord extends RecordOf<typeof IpRange> {}

export const IP_RANGE_EXAMPLE: Static<typeof IpRange> = {
  id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0020",
  network_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002",
  subnet_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0004",
  first: "10.2.3.200",
  last: "10.2.3.219",
  purpose: "Static",
  description: "Printers",
  tags: [],
  ...RECORD_EXAMPLE,
};
