// Requests to read a record for editing, and to create, update and delete it.

import type { paths } from "#api";
import { api, throwRefusal, unwrapWrite } from "../api/client.ts";
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
 * One kind's paths represent all: TypeScript cannot relate a union of paths to their bodies. All kinds take the same
 * parameters, and the generated forms build the bodies.
 */
type List = "/api/v1/vlans";
type Item = "/api/v1/vlans/{id}";
type Created = paths[List]["post"]["requestBody"]["content"]["application/json"];
type Updated = paths[Item]["put"]["requestBody"]["content"]["application/json"];

/** Loads the current record without its parts, of which a device may have thousands. @throws Refusal */
export async function loadEdited(kind: EditedKind, id: string): Promise<Tagged> {
  const params = { path: { id }, query: entryOf(kind)?.withoutParts ?? {} };
  const { data, error, response } = await api.GET(`${apiPath(kind)}/{id}` as Item, { params }).catch(throwRefusal);
  const tag = response.headers.get("etag");
  if (data === undefined || tag === null) throw refusalOf(response, error);
  return { record: data.data, tag };
}

/** @returns the transaction; null if nothing changed @throws Refusal: 412 if outdated, 0 if the outcome is unknown */
export async function saveEdited(
  kind: EditedKind,
  id: string,
  { tag, body }: { readonly tag: string; readonly body: Values },
  { header, headers }: Headers,
): Promise<number | null> {
  const params = { path: { id }, header: { ...header, "If-Match": tag } };
  const writing = api.PUT(`${apiPath(kind)}/{id}` as Item, { params, headers, body: body as Updated });
  return (await unwrapWrite(writing)).sequence;
}

/** @returns id and transaction of the new record @throws Refusal: 0 if the outcome is unknown */
export async function createRecord(
  kind: EditedKind,
  body: Values,
  { header, headers }: Headers,
): Promise<{ readonly id: string; readonly sequence: number | null }> {
  const writing = api.POST(apiPath(kind) as List, { params: { header }, headers, body: body as Created });
  const { data, sequence } = await unwrapWrite(writing);
  return { id: data.id, sequence };
}

/**
 * @param cascade whether to delete dependents too
 * @param ignore whether scans ignore the record from now on
 * @returns the transaction
 * @throws Refusal: `entity_in_use` if it has dependents, 412 if the record has changed
 */
export async function removeRecord(
  kind: EditedKind,
  id: string,
  { tag, ...asked }: { readonly tag: string; readonly cascade: boolean; readonly ignore: boolean },
  { header, headers }: Headers,
): Promise<number | null> {
  const params = { path: { id }, query: removalQuery(asked), header: { ...header, "If-Match": tag } };
  return (await unwrapWrite(api.DELETE(`${apiPath(kind)}/{id}` as Item, { params, headers }))).sequence;
}

/** Query of a deletion, with only the requested options, since not every kind can be ignored. */
export function removalQuery({ cascade, ignore }: { readonly cascade: boolean; readonly ignore: boolean }) {
  return { ...(cascade ? { cascade } : {}), ...(ignore ? { ignore } : {}) };
}
