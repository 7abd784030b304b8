// What the fields that hold ids of other records can be chosen from.

import { type Read, read } from "../api/client.ts";
import { quoted } from "../api/filter-text.ts";
import type { FormField, Values } from "./field.ts";

/** A record that can be chosen. */
export interface Choice {
  readonly id: string;
  readonly name: string;
}

/** More than anybody looks through; a field keeps what it has beyond them. */
const CHOICES_MAX = 1_000;

type Choosable = {
  readonly id: string;
  readonly name?: string;
  readonly number?: number;
  readonly cidr?: string;
  readonly ip_address?: string;
};

/** The records that a field can name; null for a field that names none. */
export function choicesRead({ name }: FormField, record: Values): Read<readonly Choosable[]> | null {
  const { network_id, host_id } = record;
  if (name === "tags") return read("/api/v1/tags", { query: { limit: CHOICES_MAX } });
  if (name === "network_id") return read("/api/v1/networks", { query: { order_by: "name", limit: CHOICES_MAX } });
  if (name === "ip_address_id" && typeof host_id === "string")
    return read("/api/v1/ip-addresses", { query: { host_id, order_by: "ip_address", limit: CHOICES_MAX } });
  if (typeof network_id !== "string" || network_id === "") return null;
  if (name === "subnet_id")
    return read("/api/v1/subnets", { query: { network_id, order_by: "cidr", limit: CHOICES_MAX } });
  if (name === "vlan_id" || name === "native_vlan_id" || name === "vlan_ids")
    return read("/api/v1/vlans", {
      query: { network_id, order_by: "number", limit: CHOICES_MAX },
    });
  return null;
}

/** As many as are offered while one types. */
const FOUND_MAX = 20;

/** Of hosts there are too many to choose from: those that what is typed finds. */
export function hostsRead(
  said: string,
  { network_id }: Values,
): Read<readonly Choosable[], { readonly pagination: { readonly has_more: boolean } }> | null {
  if (said.trim() === "") return null;
  const within = typeof network_id === "string" && network_id !== "" ? { network_id } : {};
  return read("/api/v1/hosts", {
    query: { search: said.trim(), include_children: false, limit: FOUND_MAX, ...within },
  });
}

/** Those that are called just so: among many that what is typed finds, they need not be the first. */
export function hostsCalledRead(name: string, { network_id }: Values): Read<readonly Choosable[]> {
  const within = typeof network_id === "string" && network_id !== "" ? { network_id } : {};
  return read("/api/v1/hosts", {
    query: { filter: `name = ${quoted(name.trim())}`, include_children: false, limit: FOUND_MAX, ...within },
  });
}

/** `20 Offices` of a VLAN, `10.2.0.0/24 Offices` of a subnet, the name of anything else. */
export function choiceOf({ id, name = "", number, cidr, ip_address: address }: Choosable): Choice {
  const before = [number, cidr, address].filter((each) => each !== undefined).join(" ");
  return { id, name: `${before} ${name}`.trim() };
}

/** What a record is called in a sentence. */
export function calledIn(record: Values): string {
  const { first, last, key, protocol, if_name, if_descr } = record as Readonly<Record<string, string | undefined>>;
  if (first !== undefined) return `${first}–${last}`;
  if (key !== undefined) return key;
  if (protocol !== undefined) return `${String(record.number)}/${protocol}`;
  if (if_descr !== undefined) return if_name || if_descr;
  return choiceOf({ ...record, id: String(record.id) } as Choosable).name;
}
