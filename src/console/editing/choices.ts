// What the fields that hold ids of other records can be chosen from.

import { type Read, read } from "../api/client.ts";
import { quoted } from "../api/filter-text.ts";
import { apiPath, entryOf, referredKind } from "../kinds/kinds.ts";
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

/** The records that a field can name; null for a field that names none, and before it is known where they belong. */
export function choicesRead({ name }: FormField, record: Values): Read<readonly Choosable[]> | null {
  const kind = referredKind(name);
  if (kind === undefined) return null;
  const entry = entryOf(kind);
  const order_by = /\w+/.exec(entry?.called?.[0] ?? "name")?.[0];
  // An interface has one of the addresses of its host.
  const place = entry?.isOfHost === true ? "host_id" : "network_id";
  const { [place]: placeId } = record;
  if (entry?.isOfOrganization !== true && (typeof placeId !== "string" || placeId === "")) return null;
  const within = entry?.isOfOrganization === true ? {} : { [place]: placeId };
  return read(apiPath(kind), { query: { ...within, order_by, limit: CHOICES_MAX } } as never) as Read<
    readonly Choosable[]
  >;
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
