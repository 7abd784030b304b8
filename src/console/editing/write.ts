// How a record is read to be edited, written and put back.

import { api, asRefusal } from "../api/client.ts";
import { oneOf } from "../api/one-of.ts";
import { Refusal, refusalOf } from "../api/refusal.ts";
import { reasonHeader } from "../writes/reason.ts";
import type { Values } from "./field.ts";
import { type EditedKind, formOf } from "./forms.ts";

/** A record with the tag of its version. */
export interface Tagged {
  readonly record: Values;
  readonly tag: string;
}

/** All of them take the same. */
type AnyPath = "/api/v1/hosts/{id}";

/**
 * The record as it is now, without its parts, of which a device may have thousands. The tag is never of a later version
 * than the record: what came in between is found out when it is saved.
 * @throws Refusal
 */
export async function loadEdited(kind: EditedKind, id: string): Promise<Tagged> {
  const { path, list } = formOf(kind);
  const response = await fetch(path.replace("{id}", id), { method: "HEAD" }).catch(rethrown);
  if (!response.ok) throw refusalOf(response, undefined);
  const { data } = await oneOf(list(id)).load();
  return { record: data, tag: tagOf(response) };
}

interface Update {
  readonly tag: string;
  readonly body: Values;
  readonly reason: string;
  /** Of newRequestKey(): the same for the same update. */
  readonly key: string;
}

/** @throws Refusal: 412 where the record is another one by now, 0 where it is not known whether it was written */
export async function saveEdited(kind: EditedKind, id: string, { tag, body, reason, key }: Update): Promise<void> {
  const path = formOf(kind).path as AnyPath;
  const { data, error, response } = await api
    .PUT(path, {
      params: { path: { id }, header: { "If-Match": tag, "Idempotency-Key": key } },
      headers: { "X-Request-Id": key, ...reasonHeader(reason) },
      body: body as never,
    })
    .catch(rethrown);
  if (data === undefined) throw refusalOf(response, error);
}

/** The transaction of a write; null where it wrote nothing. @throws Refusal */
export async function sequenceOf(key: string): Promise<number | null> {
  const { data, error, response } = await api
    .GET("/api/v1/transactions", { params: { query: { filter: `request_id = "${key}"`, limit: 1 } } })
    .catch(rethrown);
  if (data === undefined) throw refusalOf(response, error);
  return data.data[0]?.sequence ?? null;
}

function tagOf(response: Response): string {
  const tag = response.headers.get("etag");
  if (tag === null) throw new Refusal({ status: response.status, code: "unknown", message: "", requestId: null });
  return tag;
}

function rethrown(cause: unknown): never {
  throw asRefusal(cause);
}
