// Versions of records whose kind has dedicated pages.

import { type Read, read } from "../api/client.ts";
import { apiPath, entryOf, type PagedKind } from "../kinds/kinds.ts";

/** A record's version, limited to the cause of the change. */
export interface RecordVersion {
  readonly operation: string;
  readonly transaction: {
    readonly at: string;
    readonly actor: { readonly name: string };
    readonly reason: string | null;
  };
  readonly record: {
    /** Host that a merged host became part of. */
    readonly consolidated_into?: string | null;
  };
}

/**
 * Request for a record's newest version, with the number of versions in `meta`.
 * @param options `at`: ignores later versions; `offset`: number of newer versions to skip
 */
export function versionOf(
  kind: PagedKind,
  id: string,
  options: { readonly at?: string; readonly offset?: number },
): Read<readonly RecordVersion[], { readonly pagination: { readonly total_count: number } }> {
  const query = { ...options, limit: 1, ...entryOf(kind)?.ownVersions };
  return read(`${apiPath(kind)}/{id}/history`, { path: { id }, query }) as ReturnType<typeof versionOf>;
}
