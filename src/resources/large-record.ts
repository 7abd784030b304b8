// A record with very many parts, put together beside the thread that answers: what it is answered with is what a small one is.

import type { Actor } from "../access/actor.ts";
import type { AsOf } from "../db/list-query.ts";
import type { LongRead } from "../db/long-reads.ts";
import type { Reader } from "../db/reader.ts";
import { entityTag, type RecordVersion } from "../http/conditional.ts";
import { resourceOf } from "./catalog.ts";
import { ANSWER_SHAPE } from "./kinds.ts";

/** A version that was found, as plain data. */
export interface LargeRecordInput {
  readonly kind: string;
  readonly n: number;
  readonly version: RecordVersion;
  readonly ended: boolean;
  readonly actor: Actor;
  readonly asOf: AsOf;
}

/** First its entity tag, then the record as a JSON object. */
export const largeRecord: LongRead = function* (reader: Reader, input: LargeRecordInput) {
  const { kind, compose } = resourceOf(input.kind);
  const items = reader.itemsOf(kind, [input.n], input.asOf, input.actor);
  const [text] =
    compose === undefined ? items.map((item) => item.text) : compose(reader, input.actor)(items, input.asOf);
  if (text === undefined) throw new Error(`large record: there is no ${input.kind} ${input.n}`);
  yield encoder.encode(
    entityTag(input.version, { shape: ANSWER_SHAPE, ended: input.ended, view: compose?.varies === true ? text : null }),
  );
  yield encoder.encode(text);
};

const encoder = new TextEncoder();
