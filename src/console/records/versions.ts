// Versions of records that have pages of their own.

import { type Read, read } from "../api/client.ts";
import { apiPath, entryOf, type PagedKind } from "../kinds/kinds.ts";

/** One version of a record, as far as it says what became of it. */
export interface RecordVersion {
  readonly operation: string;
  readonly transaction: {
    readonly at: string;
    readonly actor: { readonly name: string };
    readonly reason: string | null;
  };
  readonly record: {
    /** Of a host that ended in another one. */
    readonly consolidated_into?: string | null;
  };
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
  const query = { ...which, limit: 1, ...entryOf(kind)?.aloneThen };
  return read(`${apiPath(kind)}/{id}/history`, { path: { id }, query }) as ReturnType<typeof versionOf>;
}
