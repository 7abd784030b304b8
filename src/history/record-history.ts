// Version history of one record, newest first, even after its deletion. For a host, optionally includes the versions of
// hosts consolidated into it.

import type { Actor } from "../access/actor.ts";
import { ChangeLog, type RecordChange } from "../db/reading/change-log.ts";
import type { Moment } from "../db/reading/list-query.ts";
import { longRead, PAUSE, utf8 } from "../db/reading/long-reads.ts";
import type { Reader } from "../db/reading/reader.ts";
import { filterableFields } from "../records/custom-fields-at.ts";
import type { RequestFilter } from "../records/list-filter.ts";
import { resourceOf } from "../records/resources.ts";
import { RowFilter } from "../records/row-filter.ts";
import { commaSeparated, LIST_HEAD, listMeta, listTail, thinnedUntilMember } from "../schemas/envelope.ts";
import { ChangeView } from "./change-view.ts";
import { versionFields } from "./version-rows.ts";

export interface RecordHistoryInput {
  readonly actor: Actor;
  readonly kind: string;
  /** The record, and for a host those consolidated into it. */
  readonly ns: readonly number[];
  /** Versions up to this transaction. */
  readonly until: number;
  /** Number of versions; 0 for all. */
  readonly limit: number;
  readonly offset: number;
  readonly filter: RequestFilter;
  /** Omits the children of hosts. */
  readonly omitsChildren: boolean;
  readonly moment: Moment;
}

/** Hosts with children are read one by one: each may have thousands of parts. */
const STEP_VERSIONS = 100;

/** One page as a response envelope. */
export const recordHistory = longRead("record_history", function* (reader: Reader, input: RecordHistoryInput) {
  const { kind: kindName, ns, until, limit, offset, moment } = input;
  const resource = resourceOf(kindName);
  const log = new ChangeLog(reader);
  const view = new ChangeView(reader, input.actor);
  const withChildren = !input.omitsChildren;
  const step = withChildren && resource.compose?.parts !== undefined ? 1 : STEP_VERSIONS;
  // Accepts the custom fields of that time and the current ones.
  const custom = filterableFields(reader, input.actor, reader.atSequence(until));
  const filter = RowFilter.of(reader, versionFields(kindName).with(custom), input.actor, input.filter);
  const matching = filter === null ? null : yield* matchingVersions(filter);
  yield utf8(LIST_HEAD);
  yield* commaSeparated(versions());
  const total = matching?.length ?? ns.reduce((count, n) => count + log.versionCount(n, until), 0);
  yield utf8(listTail(listMeta({ limit, offset, total }, moment, thinned())));

  function thinned(): string {
    const incompleteUntil = reader.thinnedHistory.incompleteUntil(0);
    return thinnedUntilMember(
      incompleteUntil !== null && ns.some((n) => log.lastDropped(n, 0, until) > 0) ? incompleteUntil : null,
    );
  }

  function* versions(): Generator<Uint8Array> {
    const end = limit === 0 ? Number.POSITIVE_INFINITY : offset + limit;
    for (let position = offset; position < end; position += step) {
      const count = Math.min(step, end - position);
      const changes = matching?.slice(position, position + count) ?? page(count, position);
      for (const run of view.lightRuns(changes))
        yield utf8(view.render(run, { withType: false, withChildren }).join(","));
      if (changes.length < step) return;
    }
  }

  function page(count: number, position: number): RecordChange[] {
    return log.versions(resource.kind, ns, until, count, position);
  }

  /** Renders records only if the filter uses them. */
  function* matchingVersions(rowFilter: RowFilter): Generator<Uint8Array, RecordChange[]> {
    const found: RecordChange[] = [];
    const renderChildren = rowFilter.usesField("record") ? withChildren : null;
    const count = renderChildren === true ? step : STEP_VERSIONS;
    for (let position = 0; ; position += count) {
      const changes = page(count, position);
      for (const run of view.lightRuns(changes)) {
        const rows = view.render(run, { withType: false, withChildren: renderChildren });
        found.push(...run.filter((_, index) => rowFilter.holds(JSON.parse(rows[index] as string) as object)));
        yield PAUSE;
      }
      if (changes.length < count) return found;
    }
  }
});
