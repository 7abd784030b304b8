// Requests to read a record for editing, and to create, update and delete it.

import { api, rethrown, written } from "../api/client.ts";
import { refusalOf } from "../api/refusal.ts";
import type { Values } from "../forms/field.ts";
import { reasonHeader } from "../forms/reason.ts";
import { apiPath, type EditedKind, entryOf } from "../kinds/kinds.ts";

/** A record with the entity tag of its version. */
export interface Tagged {
  readonly record: Values;
  readonly tag: string;
}

/** All kinds have the same parameters. */
type AnyList = "/api/v1/vlans";
type AnyPath = "/api/v1/vlans/{id}";

/**
 * Current record without its parts, of which a device may have thousands.
 * @throws Refusal
 */
export async function loadEdited(kind: EditedKind, id: string): Promise<Tagged> {
  const { data, error, response } = await api
    .GET(`${apiPath(kind)}/{id}` as AnyPath, {
      params: { path: { id }, query: entryOf(kind)?.alone ?? {} },
    })
    .catch(rethrown);
  const tag = response.headers.get("etag");
  if (data === undefined || tag === null) throw refusalOf(response, error);
  return { record: data.data, tag };
}

interface Writing {
  readonly reason: string;
  /** From newRequestKey(); identical for retries of the same write. */
  readonly key: string;
}

interface Update extends Writing {
  readonly tag: string;
  readonly body: Values;
}

/**
 * @returns the transaction; null if nothing changed
 * @throws Refusal: 412 if the record has changed, 0 if the outcome is unknown
 */
export async function saveEdited(
  kind: EditedKind,
  id: string,
  { tag, body, reason, key }: Update,
): Promise<number | null> {
  const { sequence } = await written(
    api.PUT(`${apiPath(kind)}/{id}` as AnyPath, {
      params: { path: { id }, header: { "If-Match": tag, "Idempotency-Key": key } },
      headers: reasonHeader(reason),
      body: body as never,
    }),
  );
  return sequence;
}

interface Creation extends Writing {
  readonly body: Values;
}

/**
 * @returns id and transaction of the new record
 * @throws Refusal: 0 if the outcome is unknown
 */
export async function createRecord(
  kind: EditedKind,
  { body, reason, key }: Creation,
): Promise<{ readonly id: string; readonly sequence: number | null }> {
  const { data, sequence } = await written(
    api.POST(apiPath(kind) as AnyList, {
      params: { header: { "Idempotency-Key": key } },
      headers: reasonHeader(reason),
      body: body as never,
    }),
  );
  return { id: data.id, sequence };
}

interface Removal extends Writing {
  readonly tag: string;
  /** Whether to delete dependents too. */
  readonly cascade: boolean;
}

/**
 * @returns the transaction
 * @throws Refusal: `entity_in_use` if it has dependents, 412 if the record has changed
 */
export async function removeRecord(kind: EditedKind, id: string, removal: Removal): Promise<number | null> {
  const { tag, cascade, reason, key } = removal;
  const { sequence } = await written(
    api.DELETE(`${apiPath(kind)}/{id}` as AnyPath, {
      params: {
        path: { id },
        query: cascade ? { cascade } : {},
        header: { "If-Match": tag, "Idempotency-Key": key },
      },
      headers: reasonHeader(reason),
    }),
  );
  return sequence;
}
