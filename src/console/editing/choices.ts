// What the fields that hold ids of other records can be chosen from.

import { type Read, read } from "../api/client.ts";
import type { FormField, Values } from "./field.ts";

/** A record that can be chosen. */
export interface Choice {
  readonly id: string;
  readonly name: string;
}

/** More than anybody looks through; a field keeps what it has beyond them. */
const CHOICES_MAX = 1_000;

type Choosable = { readonly id: string; readonly name?: string; readonly number?: number };

/** The records that a field can name; null for a field that names none. */
export function choicesRead({ name }: FormField, { network_id }: Values): Read<readonly Choosable[]> | null {
  if (name === "tags") return read("/api/v1/tags", { query: { limit: CHOICES_MAX } });
  if (name === "vlan_id" || name === "native_vlan_id" || name === "vlan_ids")
    return read("/api/v1/vlans", {
      query: { network_id: String(network_id), order_by: "number", limit: CHOICES_MAX },
    });
  return null;
}

/** `20 Offices` of a VLAN, the name of anything else. */
export function choiceOf({ id, name = "", number }: Choosable): Choice {
  return { id, name: number === undefined ? name : `${number} ${name}`.trim() };
}
