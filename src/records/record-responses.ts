// Single-record responses, shared by all resources, with the version as entity tag.

import { plainActor } from "../access/actor.ts";
import type { AnyKind } from "../db/kind.ts";
import type { AsOf } from "../db/reading/list-query.ts";
import type { FoundItem } from "../db/reading/reader.ts";
import type { ComposeFor } from "../resources/compose.ts";
import type { View } from "../resources/resource.ts";
import { entityTag, isNotModified } from "../schemas/entity-tags.ts";
import { metaAt, successBody, successParts } from "../schemas/envelope.ts";
import type { ActorCall, Backend } from "./backend.ts";
import { type LargeRecordInput, largeRecordRead } from "./large-record.ts";
import type { ListOptions } from "./list-responses.ts";
import { notFoundAt, readingAt } from "./read-instant.ts";
import { responseShape } from "./resources.ts";

/**
 * Responds with one record, with its version as entity tag.
 * @param within restricts the record to these containers
 * @param include additions from the resource's `includes`
 */
export function respondWithRecord(
  backend: Backend,
  call: ActorCall & { readonly params: { id: string }; readonly query: { readonly at?: string } },
  { kind, compose }: View,
  within: ListOptions["within"] = {},
  include?: string,
): Response | Promise<Response> {
  const { reader } = backend;
  return readingAt(backend, call, (moment) => {
    const { asOf } = moment;
    const found = reader.find(kind, call.params.id, call.actor, asOf, within);
    if (found === null) throw notFoundAt(kind, call.params.id, moment);
    return respondWithFound(backend, call, { kind, found, asOf, compose, include }, metaAt(moment));
  });
}

/** A found record with its context. */
interface FoundRecord {
  readonly kind: AnyKind;
  readonly found: FoundItem;
  readonly asOf: AsOf | null;
  readonly compose: ComposeFor | undefined;
  readonly include?: string | undefined;
  /** True for the result of a write, which is exempt from the caller's limit on long reads. */
  readonly isWritten?: true;
}

/** Responds with a record: 304 if the caller has this version, or through a long read if the record is very large. */
export function respondWithFound(
  backend: Backend,
  call: ActorCall,
  record: FoundRecord,
  meta: string,
  { isTagged = true } = {},
): Response | Promise<Response> {
  const { reader } = backend;
  const { found, asOf, compose } = record;
  const respond = (tag: string, body: () => string | Blob) => {
    const headers = { ...call.headers, ...(isTagged ? { etag: tag } : {}) };
    // A write always returns its result, regardless of the version that the caller has.
    if (isTagged && record.isWritten !== true && isNotModified(call.request.headers.get("if-none-match"), tag))
      return new Response(null, { status: 304, headers });
    return new Response(body(), { headers: { ...headers, "content-type": "application/json" } });
  };
  if (
    record.include !== undefined ||
    (compose?.parts !== undefined && reader.haveTooManyParts([found.n], compose.parts, asOf))
  )
    return largeRecord(backend, call, record).then(({ tag, text }) =>
      respond(tag, () => new Blob(successParts(text, meta))),
    );
  const text = compose === undefined ? found.text : (compose(reader, call.actor)([found], asOf)[0] as string);
  return respond(
    entityTag(found, {
      shape: responseShape(),
      ended: found.ended,
      view: compose?.variesByCaller === true ? text : null,
    }),
    () => successBody(text, meta),
  );
}

async function largeRecord(
  backend: Backend,
  call: ActorCall,
  { kind, found, asOf, include, isWritten }: FoundRecord,
): Promise<{ tag: string; text: Uint8Array<ArrayBuffer> }> {
  const { n, sequence, hashPrefix, ended } = found;
  const input: LargeRecordInput = {
    kind: kind.name,
    n,
    version: { sequence, hashPrefix },
    ended,
    actor: plainActor(call.actor),
    asOf: asOf ?? backend.reader.present(),
    include,
  };
  const [tag, text] = await Array.fromAsync(
    await backend.longReads.start(largeRecordRead, input, { bypassesLimit: isWritten === true }),
  );
  return { tag: new TextDecoder().decode(tag), text: text as Uint8Array<ArrayBuffer> };
}
