// API requests for bulk writes.

import { api, fetchResponse, unwrap, unwrapWrite } from "../api/client.ts";
import { refusalOf } from "../api/refusal.ts";
import { removalQuery } from "../editing/write.ts";
import { reasonHeader } from "../forms/reason.ts";
import type { Headers } from "../forms/use-form.ts";
import { apiPath, type EditedKind, type TaggedKind } from "../kinds/kinds.ts";
import type { BulkScope } from "./scope.ts";

/** Plan or result of a bulk update. */
export interface BulkPlan {
  readonly applied: boolean;
  readonly sequence: number | null;
  /** Fingerprint to send with the write. */
  readonly plan: string;
  readonly counts: { readonly matched: number; readonly updated: number; readonly unchanged: number };
  readonly changes: readonly BulkChange[];
}

export interface BulkChange {
  readonly entity_type: string;
  readonly operation: "Created" | "Updated" | "Deleted";
  /** Null for a record to be created. */
  readonly id: string | null;
  readonly name?: string;
  readonly fields: readonly { readonly field: string; readonly from?: unknown; readonly to?: unknown }[];
}

interface WriteOptions {
  readonly reason: string;
  readonly key: string;
}

/** One kind's paths represent all, since they take the same request. */
type AnyBulkUpdate = "/api/v1/vlans/bulk-update";
type AnyBulkDelete = "/api/v1/vlans/bulk-delete";

/** Plan or result of a table import. */
export interface TablePlan extends Omit<BulkPlan, "counts"> {
  readonly counts: Readonly<Record<"rows" | "created" | "updated" | "unchanged", number>>;
  readonly ignored_columns: readonly string[];
}

/**
 * Imports a table.
 * @param plan fingerprint from the dry run; null for the dry run itself
 * @throws Refusal with the row and column of each issue
 */
export async function importTable(
  kind: EditedKind,
  { text, plan }: { readonly text: string; readonly plan: string | null },
  { reason, key }: WriteOptions,
): Promise<TablePlan> {
  const query = plan === null ? "dry_run=true" : `plan=${plan}`;
  const response = await fetchResponse(`${apiPath(kind)}/import/csv?${query}`, {
    method: "POST",
    headers: {
      "Content-Type": "text/csv; charset=utf-8",
      ...(plan === null ? {} : { "Idempotency-Key": key, ...reasonHeader(reason) }),
    },
    body: text,
  });
  const body: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw refusalOf(response, body);
  return (body as { data: TablePlan }).data;
}

/** Columns of the kind's CSV export, in order. @throws Refusal */
export async function columnsOf(kind: EditedKind): Promise<string[]> {
  const response = await fetchResponse(`${apiPath(kind)}/export/csv?ids=${UNUSED_ID}`);
  if (!response.ok) throw refusalOf(response, await response.json().catch(() => undefined));
  const [header = ""] = (await response.text()).replace(/^\ufeff/, "").split(/\r?\n/);
  return header.split(",");
}

/** An id that no record has, so that the response contains only the header. */
const UNUSED_ID = "00000000-0000-0000-0000-000000000000";

/** Updates records. @param plan fingerprint from the dry run; null for the dry run itself @throws Refusal */
export async function updateMany(
  { kind, ids, filter, networkId }: BulkScope,
  { set, plan }: { readonly set: Readonly<Record<string, unknown>>; readonly plan: string | null },
  { reason, key }: WriteOptions,
): Promise<BulkPlan> {
  const networkClause = networkId === null ? "" : `network_id = "${networkId}"`;
  const clauses = [filter, networkClause].filter((clause) => clause !== "").map((clause) => `(${clause})`);
  return unwrap(
    api.POST(`${apiPath(kind)}/bulk-update` as AnyBulkUpdate, {
      params: { header: plan === null ? {} : { "Idempotency-Key": key } },
      headers: plan === null ? {} : reasonHeader(reason),
      body: {
        ...(ids === null ? { filter: clauses.join(" AND ") } : { ids: [...ids] }),
        // The fields belong to the kind in the path, which the representative type does not know.
        set: set as never,
        ...(plan === null ? { dry_run: true } : { plan }),
      },
    }),
  );
}

/** @returns the transaction @throws Refusal with `entity_in_use` if other records depend on any of them */
export async function deleteMany(
  kind: EditedKind,
  { ids, ...asked }: { readonly ids: readonly string[]; readonly cascade: boolean; readonly ignore: boolean },
  { header, headers }: Headers,
): Promise<number | null> {
  const params = { query: removalQuery(asked), header };
  const writing = api.POST(`${apiPath(kind)}/bulk-delete` as AnyBulkDelete, { params, headers, body: [...ids] });
  return (await unwrapWrite(writing)).sequence;
}

/** @returns the transaction; null if nothing changed @throws Refusal */
export async function tagMany(
  kind: TaggedKind,
  { ids, tagId, isAdded }: { readonly ids: readonly string[]; readonly tagId: string; readonly isAdded: boolean },
  { header, headers }: Headers,
): Promise<number | null> {
  const path = isAdded ? "/api/v1/tags/assign/bulk-add" : "/api/v1/tags/assign/bulk-remove";
  const body = { entity_type: kind, entity_ids: [...ids], tag_id: tagId };
  return (await unwrapWrite(api.POST(path, { params: { header }, headers, body }))).sequence;
}
