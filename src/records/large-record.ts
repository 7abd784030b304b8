// Long read of a record with many parts. Its response is identical to that of a small record.

import type { Actor } from "../access/actor.ts";
import type { AsOf } from "../db/reading/list-query.ts";
import { longRead } from "../db/reading/long-reads.ts";
import type { Reader } from "../db/reading/reader.ts";
import { entityTag, type TaggedVersion } from "../schemas/entity-tags.ts";
import { composedWith } from "./long-list.ts";
import { resourceOf, responseShape } from "./resources.ts";

/** A found version, as plain data. */
export interface LargeRecordInput {
  readonly kind: string;
  readonly n: number;
  readonly version: TaggedVersion;
  readonly ended: boolean;
  readonly actor: Actor;
  readonly asOf: AsOf;
  readonly include: string | undefined;
}

/** Yields the entity tag, then the record as a JSON object. */
export const largeRecordRead = longRead(
  "record",
  function* (reader: Reader, input: LargeRecordInput) {
    const resource = resourceOf(input.kind);
    const { kind } = resource;
    const compose = composedWith(resource, input);
    const items = reader.itemsOf(kind, [input.n], input.asOf, input.actor);
    const [text] =
      compose === undefined ? items.map((item) => item.text) : compose(reader, input.actor)(items, input.asOf);
    if (text === undefined) throw new Error(`large record: ${input.kind} ${input.n} does not exist`);
    yield encoder.encode(
      entityTag(input.version, {
        shape: responseShape(),
        ended: input.ended,
        view: compose?.variesByCaller === true ? text : null,
      }),
    );
    yield encoder.encode(text);
  },
  { isInLargeSteps: true },
);

const encoder = new TextEncoder();
