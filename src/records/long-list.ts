// Lists with a sort or filter that no index serves, and exports, as long reads. Responses are identical to those of
// short lists.

import type { Actor } from "../access/actor.ts";
import { ownValue } from "../base/fields.ts";
import type { FixedMoment, ListQuery } from "../db/reading/list-query.ts";
import { longRead, pausing } from "../db/reading/long-reads.ts";
import type { Reader } from "../db/reading/reader.ts";
import type { ComposeFor } from "../resources/compose.ts";
import type { ResourceBase } from "../resources/resource.ts";
import { csvHead, csvRows, schemaColumns } from "../schemas/csv.ts";
import { commaSeparated, LIST_HEAD, listMeta, listTail, META, thinnedUntilMember } from "../schemas/envelope.ts";
import { customFieldsAt, ofKind, withCustomFields } from "./custom-fields-at.ts";
import { listCondition, type RequestFilter, thinnedUntil } from "./list-filter.ts";
import { targetsIn, withNames } from "./name-columns.ts";
import { parsedFilter } from "./read-filter.ts";
import { ReferenceNames } from "./reference-names.ts";
import { resourceOf } from "./resources.ts";

/** A list query as plain data. */
export interface LongListInput extends Omit<ListQuery, "kind" | "reach" | "asOf" | "condition"> {
  readonly kind: string;
  readonly actor: Actor;
  readonly moment: FixedMoment;
  /** Omits the children of hosts. */
  readonly omitsChildren: boolean;
  readonly include?: string | undefined;
  readonly filter?: RequestFilter;
  /** Whether it lists the records of a removal, which has no pages. */
  readonly isRemoval?: true;
  readonly format: "json" | "csv";
}

export const longListRead = longRead(
  "list",
  function* (reader: Reader, input: LongListInput) {
    const { kind: kindName, actor, moment, omitsChildren, include, filter, isRemoval, format, ...rest } = input;
    const resource = resourceOf(kindName);
    const { condition, after } = listCondition(
      reader,
      { kindName, reach: actor, asOf: moment.asOf },
      filter ?? NO_FILTER,
    );
    const baseQuery: ListQuery = {
      ...rest,
      kind: resource.kind,
      reach: actor,
      asOf: moment.asOf,
      ...(condition === undefined ? {} : { condition }),
    };
    const query = yield* pausing(reader.ordering(yield* pausing(reader.filtered(baseQuery))));
    const composeFor =
      (format === "csv" ? resource.composeRows : undefined) ?? composedWith(resource, { omitsChildren, include });
    const compose = composeFor?.(reader, actor) ?? null;
    // Runs the expensive part before the response starts, so that an error still gets a status.
    const { total, chunks } = reader.countedChunks(query, compose, composeFor?.parts);
    if (format === "csv") {
      const columnsWithFields = withCustomFields(
        (omitsChildren ? resource.columnsWithoutParts : resource.columns) ?? schemaColumns(resource.responseSchema),
        () => ofKind(customFieldsAt(reader, actor, moment.asOf), kindName),
      );
      const names = new ReferenceNames(reader, actor, moment.asOf);
      const columns = withNames(columnsWithFields, (target) => names.of(target));
      yield encoder.encode(csvHead(columns));
      for (const chunk of chunks) {
        const records = JSON.parse(`[${decoder.decode(chunk)}]`) as Record<string, unknown>[];
        names.prefetch(targetsIn(columnsWithFields, records));
        yield encoder.encode(csvRows(columns, records));
      }
      return;
    }
    yield encoder.encode(LIST_HEAD);
    yield* commaSeparated(chunks);
    yield encoder.encode(
      listTail(
        isRemoval === true
          ? META
          : listMeta(
              { limit: query.limit, offset: query.offset, total },
              moment,
              thinnedUntilMember(thinnedUntil(reader, after)),
            ),
      ),
    );
  },
  { isInLargeSteps: true },
);

/** Composition of list records; undefined for none. */
export function composedWith(
  { compose, composeWithoutParts, includes }: ResourceBase,
  { omitsChildren, include }: { readonly omitsChildren?: boolean; readonly include?: string | undefined },
): ComposeFor | undefined {
  if (include !== undefined) return ownValue(includes, include);
  return omitsChildren === true ? composeWithoutParts : compose;
}

const NO_FILTER: RequestFilter = { ...parsedFilter(""), base: 0 };
const encoder = new TextEncoder();
const decoder = new TextDecoder();
