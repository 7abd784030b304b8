// Options for fields that reference other records.

import { type Read, read } from "../api/client.ts";
import { quoted } from "../api/filter-text.ts";
import { apiPath, entryOf, referredKind } from "../kinds/kinds.ts";
import type { FormField, Values } from "./field.ts";

/** Record that can be selected. */
export interface Choice {
  readonly id: string;
  readonly name: string;
}

/** Longer lists are impractical; a field keeps values beyond them. */
const CHOICES_MAX = 1_000;

type Choosable = {
  readonly id: string;
  readonly name?: string;
  readonly number?: number;
  readonly cidr?: string;
  readonly ip_address?: string;
};

/** Records that a field can reference; null for a field without references, or while the parent is unknown. */
export function choicesRead({ name }: FormField, record: Values): Read<readonly Choosable[]> | null {
  const kind = referredKind(name);
  if (kind === undefined) return null;
  const entry = entryOf(kind);
  const order_by = /\w+/.exec(entry?.called?.[0] ?? "name")?.[0];
  // An interface has addresses of its own host only.
  const place = entry?.isOfHost === true ? "host_id" : "network_id";
  const { [place]: placeId } = record;
  if (entry?.isOfOrganization !== true && (typeof placeId !== "string" || placeId === "")) return null;
  const within = entry?.isOfOrganization === true ? {} : { [place]: placeId };
  return read(apiPath(kind), { query: { ...within, order_by, limit: CHOICES_MAX } } as never) as Read<
    readonly Choosable[]
  >;
}

/** Number of suggestions while typing. */
const FOUND_MAX = 20;

/** Hosts of the record's network: too many for a list. */
function hosts(found: { readonly search: string } | { readonly filter: string }, { network_id }: Values) {
  const within = typeof network_id === "string" && network_id !== "" ? { network_id } : {};
  return read("/api/v1/hosts", { query: { ...found, include_children: false, limit: FOUND_MAX, ...within } });
}

/** Searches by the typed text. */
export function hostsRead(said: string, record: Values) {
  return said.trim() === "" ? null : hosts({ search: said.trim() }, record);
}

/** Exact name matches; among many search results, they need not come first. */
export function hostsCalledRead(name: string, record: Values) {
  return hosts({ filter: `name = ${quoted(name.trim())}` }, record);
}

/** `20 Offices` for a VLAN, `10.2.0.0/24 Offices` for a subnet, otherwise the name. */
export function choiceOf({ id, name = "", number, cidr, ip_address: address }: Choosable): Choice {
  const before = [number, cidr, address].filter((each) => each !== undefined).join(" ");
  return { id, name: `${before} ${name}`.trim() };
}
