// Requests to read a record for editing, and to create, update and delete it.

import type { paths } from "#api";
import { api, rethrown, written } from "../api/client.ts";
import { refusalOf } from "../api/refusal.ts";
import type { Values } from "../forms/field.ts";
import type { Headers } from "../forms/use-form.ts";
import { apiPath, type EditedKind, entryOf } from "../kinds/kinds.ts";

/** A record with the entity tag of its version. */
export interface Tagged {
  readonly record: Values;
  readonly tag: string;
}

/**
 * The client cannot type a call for any kind, as TypeScript relates no union of paths to its bodies. All kinds have the
 * parameters of this one; the generated forms make the bodies.
 */
type List = "/api/v1/vlans";
type One = "/api/v1/vlans/{id}";
type Created = paths[List]["post"]["requestBody"]["content"]["application/json"];
type Updated = paths[One]["put"]["requestBody"]["content"]["application/json"];

/**
 * Current record without its parts, of which a device may have thousands.
 * @throws Refusal
 */
export async function loadEdited(kind: EditedKind, id: string): Promise<Tagged> {
  const params = { path: { id }, query: entryOf(kind)?.alone ?? {} };
  const { data, error, response } = await api.GET(`${apiPath(kind)}/{id}` as One, { params }).catch(rethrown);
  const tag = response.headers.get("etag");
  if (data === undefined || tag === null) throw refusalOf(response, error);
  return { record: data.data, tag };
}

interface Update {
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
  { tag, body }: Update,
  { header, headers }: Headers,
): Promise<number | null> {
  const params = { path: { id }, header: { ...header, "If-Match": tag } };
  const { sequence } = await written(
    api.PUT(`${apiPath(kind)}/{id}` as One, { params, headers, body: body as Updated }),
  );
  return sequence;
}

/**
 * @returns id and transaction of the new record
 * @throws Refusal: 0 if the outcome is unknown
 */
export async function createRecord(
  kind: EditedKind,
  body: Values,
  { header, headers }: Headers,
): Promise<{ readonly id: string; readonly sequence: number | null }> {
  const { data, sequence } = await written(
    api.POST(apiPath(kind) as List, { params: { header }, headers, body: body as Created }),
  );
  return { id: data.id, sequence };
}

interface Removal {
  readonly tag: string;
  /** Whether to delete dependents too. */
  readonly cascade: boolean;
}

/**
 * @returns the transaction
 * @throws Refusal: `entity_in_use` if it has dependents, 412 if the record has changed
 */
export async function removeRecord(
  kind: EditedKind,
  id: string,
  { tag, cascade }: Removal,
  { header, headers }: Headers,
): Promise<number | null> {
  const query = cascade ? { cascade } : {};
  const params = { path: { id }, query, header: { ...header, "If-Match": tag } };
  const { sequence } = await written(api.DELETE(`${apiPath(kind)}/{id}` as One, { params, headers }));
  return sequence;
}
