// The kinds of records that have a page of their own: how each is asked about, and what one of them is called.

import { type Read, read } from "../api/client.ts";
import { shownName } from "../names/shown-name.ts";
import type { Pinned } from "../session/pins.ts";
import { kindText } from "../text/changes.ts";
import type { Subject } from "../time/subject.ts";

/** By their names in the API. */
export type PagedKind = "host" | "if_entry" | "subnet" | "vlan";

/** In a sentence: `host`, `VLAN`. */
export function wordOf(kind: PagedKind): string {
  return kindText[kind]?.[0] ?? kind;
}

/** By the path of its list. */
export const PIN_KINDS: Readonly<Record<PagedKind, Pinned["kind"]>> = {
  host: "hosts",
  if_entry: "if-entries",
  subnet: "subnets",
  vlan: "vlans",
};

/** What its page is about: of a host with its parts, of a subnet with what lives in it. */
export function subjectOf(kind: PagedKind, id: string): Subject {
  switch (kind) {
    case "host":
      return { host_id: id };
    case "subnet":
      return { subnet_id: id };
    default:
      return { id };
  }
}

/** What is told of a record as it was: each kind has another field that says what it is called. */
interface Called {
  readonly name?: string;
  readonly hostname?: string | null;
  readonly cidr?: string;
  readonly number?: number;
  readonly if_name?: string | null;
  readonly if_descr?: string;
  readonly if_index?: number;
  /** Of a host that ended in another one. */
  readonly consolidated_into?: string | null;
}

/** `10.0.0.0/24`, `VLAN 20`, `Gi1/0/7`; of what has no name the end of its id, which tells it from others. */
export function calledBy(id: string, { name, hostname, cidr, number, if_name, if_descr, if_index }: Called): string {
  if (number !== undefined) return `VLAN ${number}`;
  return shownName(id, cidr, if_name, if_descr, if_index === undefined ? null : `#${if_index}`, name, hostname);
}

/** One version of a record, as far as it says what became of it. */
export interface RecordVersion {
  readonly operation: string;
  readonly transaction: {
    readonly at: string;
    readonly actor: { readonly name: string };
    readonly reason: string | null;
  };
  readonly record: Called;
}

interface OneVersion {
  /** The versions up to then; left out, all. */
  readonly at?: string;
  /** How many newer ones are passed over. */
  readonly offset?: number;
}

/** The newest version of a record, and in `meta` how many there are. */
export function versionOf(
  kind: PagedKind,
  id: string,
  which: OneVersion,
): Read<readonly RecordVersion[], { readonly pagination: { readonly total_count: number } }> {
  const asked = { path: { id }, query: { ...which, limit: 1 } };
  switch (kind) {
    case "host":
      return read("/api/v1/hosts/{id}/history", {
        ...asked,
        query: { ...asked.query, include_children: false, selves: "own" },
      });
    case "if_entry":
      return read("/api/v1/if-entries/{id}/history", asked);
    case "subnet":
      return read("/api/v1/subnets/{id}/history", asked);
    case "vlan":
      return read("/api/v1/vlans/{id}/history", asked);
  }
}
