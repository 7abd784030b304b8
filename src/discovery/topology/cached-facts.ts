// gatherNetworkFacts with a cache, for a thread that queries the same network repeatedly: reads only records that
// changed.

import { type AnyKind, scopeKey } from "../../db/kind.ts";
import type { ReadConnection } from "../../db/reading/read-connection.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import type { NetworkFacts } from "./facts.ts";
import {
  CACHED_RECORDS_MAX,
  type CachedParts,
  type FactsCache,
  type StateAsOf,
  type VersionsAsOf,
} from "./facts-cache.ts";
import { composeFacts, gatherNetworkFacts, storedByNumbers, VERSION_KEY } from "./network-facts.ts";
import { LINK_KINDS } from "./network-records.ts";

/** Records per step. */
const STEP_ROWS = 1_000;
/** Maximum versions between two transactions, across the whole store, to apply one by one. */
const VERSIONS_BETWEEN_MAX = 2_000;

/**
 * Yields between steps. Returns the same object as before if nothing differs.
 * @param sequence transaction to read as of
 */
export function* cachedFacts(
  reader: Reader,
  networkN: number,
  sequence: number,
  cache: FactsCache,
): Generator<void, NetworkFacts> {
  if (!isSmall(reader, networkN, sequence)) return yield* gatherNetworkFacts(reader, networkN, sequence);
  const known = cache.stateOf(networkN);
  const state =
    (known === null ? null : stateFromKnown(reader, networkN, known, sequence)) ??
    (yield* readState(reader, networkN, sequence));
  const unchanged = cache.factsOf(networkN, state);
  cache.storeState(networkN, state);
  if (unchanged !== null) return unchanged;
  const facts = yield* composeFacts(<Part>(kind: AnyKind, partOf: (record: unknown) => Part) =>
    partsOf(reader, { kind, networkN, sequence }, partOf, {
      versions: state.versions.get(kind.code) ?? new Map(),
      known: cache.partsOf<Part>(kind),
    }),
  );
  cache.storeFacts(state, facts);
  return facts;
}

function isSmall(connection: ReadConnection, networkN: number, sequence: number): boolean {
  const statement = `SELECT count(*) FROM (SELECT 1 FROM history_spans s WHERE s.scope = +?2 AND s.born <= ?1
    AND s.died > ?1 LIMIT ${CACHED_RECORDS_MAX + 1})`;
  const [[count]] = connection.statement(statement).values(sequence, scopeKey(networkN, ifEntryKind)) as [[number]];
  return count <= CACHED_RECORDS_MAX;
}

type Row = [n: number, version: number];

function* readState(connection: ReadConnection, networkN: number, sequence: number): Generator<void, StateAsOf> {
  const statement = `SELECT s.n, ${VERSION_KEY} & 2147483647 FROM history_spans s
    WHERE s.scope = +?2 AND s.born <= ?1 AND s.died > ?1 AND s.n > +?3 ORDER BY s.n LIMIT ${STEP_ROWS}`;
  const versions = new Map<number, VersionsAsOf>();
  for (const kind of LINK_KINDS) {
    const ownRows: Row[] = [];
    for (let isLast = false; !isLast; ) {
      const after = ownRows.at(-1)?.[0] ?? 0;
      const rows = connection.statement(statement).values(sequence, scopeKey(networkN, kind), after) as Row[];
      ownRows.push(...rows);
      isLast = rows.length < STEP_ROWS;
      yield;
    }
    versions.set(kind.code, new Map(ownRows));
  }
  return { sequence, versions };
}

/** Derives the state from the known one; null if too many versions lie between, or history was thinned there. */
function stateFromKnown(reader: Reader, networkN: number, known: StateAsOf, sequence: number): StateAsOf | null {
  if (known.sequence === sequence) return known;
  const [from, to] = [Math.min(known.sequence, sequence), Math.max(known.sequence, sequence)];
  if (from <= reader.thinnedHistory.until) return null;
  const between = reader
    .statement(
      `SELECT key >> 31 FROM history_versions INDEXED BY history_versions_by_sequence
        WHERE (key & 2147483647) > ?1 AND (key & 2147483647) <= ?2 LIMIT ${VERSIONS_BETWEEN_MAX + 1}`,
    )
    .values(from, to) as Array<[number]>;
  if (between.length > VERSIONS_BETWEEN_MAX) return null;
  const touched = [...new Set(between.flat())];
  const statement = `SELECT s.n, ${VERSION_KEY} & 2147483647 FROM json_each(+?3) j
    CROSS JOIN history_spans s ON s.scope = +?2 AND s.n = j.value WHERE s.born <= ?1 AND s.died > ?1`;
  const versions = new Map<number, VersionsAsOf>();
  for (const kind of LINK_KINDS) {
    const before = known.versions.get(kind.code) ?? new Map<number, number>();
    const rows = reader
      .statement(statement)
      .values(sequence, scopeKey(networkN, kind), JSON.stringify(touched)) as Row[];
    versions.set(kind.code, revise(before, touched, new Map(rows)));
  }
  return { sequence, versions };
}

/** @param now versions of the touched records that exist then */
function revise(before: VersionsAsOf, touched: readonly number[], now: VersionsAsOf): VersionsAsOf {
  if (touched.every((n) => before.get(n) === now.get(n))) return before;
  const after = new Map(before);
  for (const n of touched) {
    const version = now.get(n);
    if (version === undefined) after.delete(n);
    else after.set(n, version);
  }
  const hasNew = touched.some((n) => now.has(n) && !before.has(n));
  return hasNew ? new Map([...after].sort(([a], [b]) => a - b)) : after;
}

interface RecordScope {
  readonly kind: AnyKind;
  readonly networkN: number;
  readonly sequence: number;
}

/** Reads only unknown records. */
function* partsOf<R, Part>(
  connection: ReadConnection,
  scope: RecordScope,
  partOf: (record: R) => Part,
  { versions, known }: { readonly versions: VersionsAsOf; readonly known: CachedParts<Part> },
): Generator<Part[]> {
  const all = [...versions];
  for (let start = 0; start < all.length; start += STEP_ROWS) {
    const rows = all.slice(start, start + STEP_ROWS);
    const missing = new Map<number, number>();
    for (const [n, version] of rows) if (known.get(n)?.version !== version) missing.set(n, version);
    if (missing.size > 0) {
      for (const [n, record] of storedByNumbers<R>(connection, scope, [...missing.keys()]))
        known.set(n, { version: missing.get(n) as number, part: partOf(record) });
    }
    const parts: Part[] = [];
    for (const [n, version] of rows) {
      const cached = known.get(n);
      if (cached?.version === version) parts.push(cached.part);
    }
    yield parts;
  }
}
