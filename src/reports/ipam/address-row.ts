// Wire format of a row in a subnet's address list.

import { type Static, Type } from "@sinclair/typebox";
import { RowFields, type RowList } from "../../records/row-fields.ts";
import { Acceptance, ConflictFingerprint } from "../../resources/conflict-acceptances/acceptance.ts";
import { IP_ADDRESS_EXAMPLE } from "../../resources/ip-addresses/ip-address.ts";
import { IP_RANGE_EXAMPLE } from "../../resources/ip-ranges/ip-range.ts";
import { RANGE_PURPOSES } from "../../resources/ip-ranges/range-purpose.ts";
import { LastSeenField } from "../../resources/last-seen.ts";
import { MacVendorName } from "../../schemas/mac-fields.ts";
import {
  CidrText,
  Description,
  IpAddressText,
  MacText,
  Name,
  Nullable,
  OneOf,
  Timestamp,
  Uuid,
} from "../../schemas/schemas.ts";
import { ADDRESS_STATES } from "./address-layout.ts";

const Holder = Type.Object(
  {
    id: Uuid,
    host: Type.Object({ id: Uuid, name: Nullable(Name) }),
    name: Type.String(),
    mac_address: Nullable(MacText),
    vendor: MacVendorName,
    last_seen_at: Timestamp,
    last_seen: LastSeenField,
  },
  { $id: "AddressHolder" },
);

export const AddressRowBody = Type.Object(
  {
    first: IpAddressText,
    last: IpAddressText,
    count: Type.Union([Type.Integer({ minimum: 1 }), Type.String({ pattern: "^[0-9]+$" })], {
      description: "Number of addresses from `first` to `last`; in IPv6 a decimal string.",
    }),
    state: OneOf(ADDRESS_STATES, {
      description:
        "`Subnet`: in a child subnet. `Gateway`: in a range of that purpose, in use or not. `Used`: assigned to a host. `Network`, `Broadcast`: not assignable; in IPv6 `Network` is the Subnet-Router anycast address. Otherwise the purpose of its range; `Seen`: of no host, but seen in use, and not expired; `Free`.",
    }),
    ip_addresses: Type.Array(Holder, {
      description: "The hosts with this address; empty for a row of several addresses.",
    }),
    conflict: Nullable(
      Type.Object({
        fingerprint: ConflictFingerprint,
        acceptance: Nullable(Acceptance, { description: "Null if the conflict is not accepted." }),
      }),
      { description: "The conflict of the hosts with this address, as in `/conflicts`; null if there is none." },
    ),
    ip_range: Nullable(Type.Object({ id: Uuid, purpose: OneOf(RANGE_PURPOSES), description: Nullable(Description) }), {
      description:
        "The range that contains it. If there are several, the first by purpose (Gateway, Dhcp, Reserved, Static, Other), then the smallest.",
    }),
    subnet: Nullable(Type.Object({ id: Uuid, cidr: CidrText, name: Name })),
  },
  { $id: "AddressRow" },
);

export const ADDRESS_ROWS: RowList = {
  name: "address_row",
  words: { one: "row of addresses", many: "rows of addresses" },
  path: "subnets/{id}/addresses",
  row: AddressRowBody,
};
export const ADDRESS_FIELDS = new RowFields(ADDRESS_ROWS);

const { id, host_id, name, mac_address, last_seen_at } = IP_ADDRESS_EXAMPLE;
const UNASSIGNED = { ip_addresses: [], conflict: null, ip_range: null, subnet: null };

export const ADDRESSES_EXAMPLE: Array<Static<typeof AddressRowBody>> = [
  { first: "10.2.3.0", last: "10.2.3.0", count: 1, state: "Network", ...UNASSIGNED },
  {
    ...UNASSIGNED,
    first: "10.2.3.4",
    last: "10.2.3.4",
    count: 1,
    state: "Used",
    ip_addresses: [
      {
        id,
        host: { id: host_id, name: "core-1" },
        name,
        mac_address,
        vendor: "Intel Corporate",
        last_seen_at,
        last_seen: null,
      },
    ],
  },
  {
    ...UNASSIGNED,
    first: "10.2.3.200",
    last: "10.2.3.200",
    count: 1,
    state: "Static",
    ip_range: {
      id: IP_RANGE_EXAMPLE.id,
      purpose: IP_RANGE_EXAMPLE.purpose,
      description: IP_RANGE_EXAMPLE.description,
    },
  },
];
