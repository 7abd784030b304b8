// Options for form fields that reference other records.

import { type Read, read } from "../api/client.ts";
import { quoted } from "../api/filter-text.ts";
import { apiPath, entryOf, referencedKind } from "../kinds/kinds.ts";
import type { FormField, Values } from "./field.ts";

/** A record that can be selected. */
export interface Choice {
  readonly id: string;
  readonly name: string;
}

/** Longer lists are impractical. A value beyond this limit stays selected. */
const CHOICES_MAX = 1_000;

type ChoosableRecord = {
  readonly id: string;
  readonly name?: string;
  readonly number?: number;
  readonly cidr?: string;
  readonly ip_address?: string;
  readonly if_name?: string;
  readonly if_descr?: string;
};

/** Request for the records that a field can reference; null for other fields, or while the parent is unknown. */
export function choicesRead({ name }: FormField, record: Values): Read<readonly ChoosableRecord[]> | null {
  const kind = referencedKind(name);
  if (kind === undefined) return null;
  const entry = entryOf(kind);
  const order_by = /\w+/.exec(entry?.nameTemplates?.[0] ?? "name")?.[0];
  // Parts of a host reference only parts of the same host.
  const parentField = entry?.isHostPart === true ? "host_id" : "network_id";
  const { [parentField]: parentId } = record;
  if (entry?.isOrganizationWide !== true && (typeof parentId !== "string" || parentId === "")) return null;
  const scope = entry?.isOrganizationWide === true ? {} : { [parentField]: parentId };
  return read(apiPath(kind), { query: { ...scope, order_by, limit: CHOICES_MAX } } as never) as Read<
    readonly ChoosableRecord[]
  >;
}

/** Maximum number of suggestions while typing. */
const FOUND_MAX = 20;

/** Request for hosts in the record's network, which are too many for a list. */
function hostsWith(criteria: { readonly search: string } | { readonly filter: string }, { network_id }: Values) {
  const scope = typeof network_id === "string" && network_id !== "" ? { network_id } : {};
  return read("/api/v1/hosts", { query: { ...criteria, include_children: false, limit: FOUND_MAX, ...scope } });
}

/** Request for hosts that match the typed text; null without text. */
export function hostSearchRead(typed: string, record: Values) {
  return typed.trim() === "" ? null : hostsWith({ search: typed.trim() }, record);
}

/** Request for hosts with exactly this name, which may be missing from a long list of search results. */
export function hostsByNameRead(name: string, record: Values) {
  return hostsWith({ filter: `name = ${quoted(name.trim())}` }, record);
}

/** Option for a record: `20 Offices` for a VLAN, `10.2.0.0/24 Offices` for a subnet, otherwise the name. */
export function choiceOf({ id, name = "", number, cidr, ip_address, if_name, if_descr }: ChoosableRecord): Choice {
  const prefix = [number, cidr, ip_address, if_name || if_descr].filter((part) => part !== undefined).join(" ");
  return { id, name: `${prefix} ${name}`.trim() };
}
