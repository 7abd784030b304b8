// Versions of records with pages of their own.

import { type Read, read } from "../api/client.ts";
import { apiPath, entryOf, type PagedKind } from "../kinds/kinds.ts";

/** Version of a record, limited to the cause of its change. */
export interface RecordVersion {
  readonly operation: string;
  readonly transaction: {
    readonly at: string;
    readonly actor: { readonly name: string };
    readonly reason: string | null;
  };
  readonly record: {
    /** For a host merged into another one. */
    readonly consolidated_into?: string | null;
  };
}

interface OneVersion {
  /** Latest instant of the versions; by default all versions. */
  readonly at?: string;
  /** Number of newer versions to skip. */
  readonly offset?: number;
}

/** Newest version of a record, with the number of versions in `meta`. */
export function versionOf(
  kind: PagedKind,
  id: string,
  which: OneVersion,
): Read<readonly RecordVersion[], { readonly pagination: { readonly total_count: number } }> {
  const query = { ...which, limit: 1, ...entryOf(kind)?.aloneThen };
  return read(`${apiPath(kind)}/{id}/history`, { path: { id }, query }) as ReturnType<typeof versionOf>;
}
