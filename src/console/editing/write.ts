// How a record is read to be edited, made, written and removed.

import { api, rethrown, written } from "../api/client.ts";
import { refusalOf } from "../api/refusal.ts";
import { apiPath, type EditedKind, entryOf } from "../kinds/kinds.ts";
import { reasonHeader } from "../writes/reason.ts";
import type { Values } from "./field.ts";

/** A record with the tag of its version. */
export interface Tagged {
  readonly record: Values;
  readonly tag: string;
}

/** All of them take the same. */
type AnyList = "/api/v1/vlans";
type AnyPath = "/api/v1/vlans/{id}";

/**
 * The record as it is now, without its parts, of which a device may have thousands.
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
  /** Of newRequestKey(): the same for the same write. */
  readonly key: string;
}

interface Update extends Writing {
  readonly tag: string;
  readonly body: Values;
}

/**
 * @returns its transaction; null where it changed nothing
 * @throws Refusal: 412 where the record is another one by now, 0 where it is not known whether it was written
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
 * @returns the id of the new record, and its transaction
 * @throws Refusal: 0 where it is not known whether it was written
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
  /** Also what depends on it. */
  readonly cascade: boolean;
}

/**
 * @returns its transaction
 * @throws Refusal: `entity_in_use` where others depend on it, 412 where it is another one by now
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
