// Groupings of changes by time, type, record, field, actor and network: groups, counts and their identifying JSON
// members. Every step is bounded.

import { formatInstant, type Instant } from "../../base/instant.ts";
import type { ChangeCounts } from "../../db/change-counts.ts";
import { ChangeLog, type LedgerEntry, type RecordChange } from "../../db/reading/change-log.ts";
import type { CountedQuery } from "../../db/reading/counted-changes.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { KINDS } from "../../records/resources.ts";
import { networkKind } from "../../resources/networks/network.ts";
import type { Grouping, MatchingChanges } from "./matching-changes.ts";
import { PastNames } from "./names-at.ts";
import { RecordTallies } from "./record-tallies.ts";
import { compareByTotal, Tally } from "./tally.ts";

interface Group {
  /** JSON members. */
  readonly members: string;
  readonly tally: Tally;
}

interface Groups {
  /** All matching changes, each counted once. */
  readonly all: Tally;
  /** Limited to the requested number. */
  readonly groups: readonly Group[];
  /** Total number of groups. */
  readonly count: number;
}

/** Records whose names are looked up per step. */
const STEP_NAMES = 20;

/** @param from start of the period */
export const GROUPERS: Readonly<
  Record<Grouping, (matching: MatchingChanges, from: Instant) => Generator<void, Groups>>
> = {
  time: byTime,
  type: byType,
  record: byRecord,
  field: byField,
  actor: byActor,
  network: byNetwork,
};

function* byTime(matching: MatchingChanges, from: Instant): Generator<void, Groups> {
  const { to, after, until, operation, buckets } = matching.input;
  const { thinnedHistory: thinnedPast } = matching.reader;
  const count = Math.min(buckets, to - from);
  if (count <= 0) return { all: new Tally(), groups: [], count: 0 };
  const instants = Array.from({ length: count + 1 }, (_, index) => from + Math.floor(((to - from) * index) / count));
  const edges = instants.map((at) => Math.min(until, Math.max(after, thinnedPast.lastBefore(at))));
  // The ledger's clock may run ahead: changes with a future timestamp belong to a period that ends now.
  edges[count] = until;
  const totals = matching.runningTotals(matching.query);
  const byBucket = totals === null ? yield* countByTime(matching, edges) : yield* totals.between(edges);
  const all = new Tally();
  const groups = byBucket.map((counts, index) => {
    const tally = new Tally();
    const types: string[] = [];
    for (const [code, kindCounts] of [...counts].sort(([left], [right]) => left - right)) {
      const before = tally.total;
      tally.addCounts(kindCounts, operation);
      if (tally.total > before) types.push(`"${nameOf(code)}":${tally.total - before}`);
    }
    all.addTally(tally);
    const [start, end] = [instants[index] as Instant, instants[index + 1] as Instant];
    return {
      members: `"from":"${formatInstant(start)}","to":"${formatInstant(end)}","types":{${types.join(",")}}`,
      tally,
    };
  });
  return { all, groups, count };
}

function* countByTime(
  matching: MatchingChanges,
  edges: readonly number[],
): Generator<void, ReadonlyArray<ReadonlyMap<number, ChangeCounts>>> {
  const buckets = edges.slice(1).map(() => new Map<number, ChangeCounts>());
  let index = 0;
  for (const changes of matching.changes()) {
    for (const { sequence, kind, operation } of changes) {
      while (sequence > (edges[index + 1] as number)) index += 1;
      const bucket = buckets[index] as Map<number, ChangeCounts>;
      let counts = bucket.get(kind.code);
      if (counts === undefined) bucket.set(kind.code, (counts = { Created: 0, Updated: 0, Deleted: 0 }));
      counts[operation] += 1;
    }
    yield;
  }
  return buckets;
}

function* byType(matching: MatchingChanges): Generator<void, Groups> {
  const tallies = new Map<string, Tally>();
  const { operation } = matching.input;
  const totals = matching.runningTotals(matching.query);
  if (totals === null) yield* matching.walk(matching.query, ({ kind }) => tallyOf(tallies, kind.name));
  else
    for (const { scope, counts, first, last } of yield* totals.perScope(matching.input, operation)) {
      // The lowest six bits of a scope are its kind, even if the number above them is negative.
      const tally = tallyOf(tallies, nameOf(((scope % 64) + 64) % 64));
      tally.addCounts(counts, operation);
      tally.extendTo(first, last);
    }
  return largestGroups(matching, tallies, (type) => `"entity_type":"${type}"`);
}

function* byRecord(matching: MatchingChanges): Generator<void, Groups> {
  const tallies = new RecordTallies();
  const all = new Tally();
  for (const changes of matching.changes()) {
    for (const { n, operation, sequence } of changes) {
      tallies.add(n, operation, sequence);
      all.add(operation, sequence);
    }
    yield;
  }
  const names = pastNames(matching);
  const groups: Group[] = [];
  for (const [index, { n, tally }] of (yield* tallies.largest(matching.input.limit)).entries()) {
    groups.push({
      members: `${recordMembers(matching.reader, names, n)},${endMembers(matching.reader, tally)}`,
      tally,
    });
    if (index % STEP_NAMES === STEP_NAMES - 1) yield;
  }
  return { all, groups, count: tallies.size };
}

function* byField(matching: MatchingChanges): Generator<void, Groups> {
  const tallies = new Map<string, Tally>();
  const all = new Tally();
  const { fields: wanted } = matching.input;
  for (const changes of matching.changes()) {
    for (const change of changes) {
      const fields = matching.fieldsOf(change).filter((field) => wanted?.includes(field) ?? true);
      if (fields.length > 0) all.add(change.operation, change.sequence);
      for (const field of fields)
        tallyOf(tallies, `"entity_type":"${change.kind.name}","field":${JSON.stringify(field)}`).add(
          change.operation,
          change.sequence,
        );
    }
    yield;
  }
  return { ...largestGroups(matching, tallies, (members) => members), all };
}

type ActorOfChange = Pick<LedgerEntry, "sequence" | "actorType" | "actorId" | "actorName">;

function* byActor(matching: MatchingChanges): Generator<void, Groups> {
  const tallies = new Map<string, Tally>();
  /** By the most recent name of each actor. */
  const actors = new Map<string, ActorOfChange>();
  const tallyFor = (entry: ActorOfChange): Tally => {
    const key = `${entry.actorType} ${entry.actorId ?? entry.actorName}`;
    if ((actors.get(key)?.sequence ?? 0) <= entry.sequence) actors.set(key, entry);
    return tallyOf(tallies, key);
  };
  const { operation } = matching.input;
  const totals = matching.runningTotals(matching.query);
  if (totals === null) {
    const log = new ChangeLog(matching.reader);
    let entries = new Map<number, LedgerEntry>();
    const loadEntries = (changes: readonly RecordChange[]) => {
      entries = log.entries(changes.map(({ sequence }) => sequence));
    };
    yield* matching.walk(matching.query, ({ sequence }) => tallyFor(entries.get(sequence) as LedgerEntry), loadEntries);
  } else
    for (const increases of totals.increases(matching.input)) {
      for (const increase of increases) {
        const { counts, sequence } = increase;
        if (operation !== null && counts[operation] === 0) continue;
        const tally = tallyFor(increase);
        tally.addCounts(counts, operation);
        tally.extendTo(sequence, sequence);
      }
      yield;
    }
  return largestGroups(matching, tallies, (key) => {
    const { actorType: type, actorId: id, actorName: name } = actors.get(key) as ActorOfChange;
    return `"actor":${JSON.stringify({ type, id, name })}`;
  });
}

/** Network by network; null for records outside networks. */
function* byNetwork(matching: MatchingChanges): Generator<void, Groups> {
  const { query } = matching;
  const tallies = new Map<string, Tally>();
  const scopedQueries: Array<readonly [string, CountedQuery]> = networksOf(matching.reader, query).map((n) => [
    String(n),
    { ...query, networkN: n },
  ]);
  if (query.networkN === undefined && query.hostN === undefined && query.referenced === undefined)
    scopedQueries.push(["", outsideNetworks(query)]);
  const { operation } = matching.input;
  for (const [key, scopedQuery] of scopedQueries) {
    const tally = new Tally();
    const totals = matching.runningTotals(scopedQuery);
    if (totals === null) yield* matching.walk(scopedQuery, () => tally);
    else
      for (const { counts, first, last } of yield* totals.perScope(matching.input, operation)) {
        tally.addCounts(counts, operation);
        tally.extendTo(first, last);
      }
    if (tally.total > 0) tallies.set(key, tally);
    yield;
  }
  const names = pastNames(matching);
  return largestGroups(matching, tallies, (key) => {
    const network = key === "" ? null : names.of(Number(key));
    return `"network":${network === null ? "null" : JSON.stringify({ id: network.id, name: network.name })}`;
  });
}

/** Query for records that belong to the organization as a whole. */
function outsideNetworks(query: CountedQuery): CountedQuery {
  return {
    ...query,
    reach: { organizationN: query.reach.organizationN, networkNs: [] },
    kinds: query.kinds.filter((kind) => kind.scopes.network === undefined || kind.networkIsOptional === true),
  };
}

/** Record numbers of the networks that may contain matching records. */
function networksOf(reader: Reader, { reach, networkN, hostN, referenced: named, recordN }: CountedQuery): number[] {
  if (networkN !== undefined) return networkN === 0 ? [] : [networkN];
  const reached = reach.networkNs === null ? null : JSON.stringify(reach.networkNs);
  const rows = reader
    .statement(
      `SELECT DISTINCT c.n FROM history_spans c WHERE c.scope = +?1 * 64 + ${networkKind.code}
        AND (+?2 IS NULL OR c.n IN (SELECT value FROM json_each(+?2)))
        AND (+?3 IS NULL OR EXISTS (SELECT 1 FROM history_records r CROSS JOIN history_spans s
          ON s.scope = c.n * 64 + r.kind AND s.n = r.n WHERE r.n = +?3))`,
    )
    .values(reach.organizationN, reached, hostN ?? named?.n ?? recordN ?? null) as Array<[number]>;
  return rows.map(([n]) => n);
}

function tallyOf(tallies: Map<string, Tally>, key: string): Tally {
  let tally = tallies.get(key);
  if (tally === undefined) tallies.set(key, (tally = new Tally()));
  return tally;
}

/** Groups with the most changes. @param members JSON members that identify a key */
function largestGroups(
  matching: MatchingChanges,
  tallies: ReadonlyMap<string, Tally>,
  members: (key: string) => string,
): Groups {
  const all = new Tally();
  for (const tally of tallies.values()) all.addTally(tally);
  const groups = [...tallies]
    .sort(([leftKey, left], [rightKey, right]) => compareByTotal(left, right) || (leftKey < rightKey ? -1 : 1))
    .slice(0, matching.input.limit)
    .map(([key, tally]) => ({ members: `${members(key)},${endMembers(matching.reader, tally)}`, tally }));
  return { all, groups, count: tallies.size };
}

function pastNames({ reader, input }: MatchingChanges): PastNames {
  return new PastNames(reader, input.actor, input.until);
}

function recordMembers(reader: Reader, names: PastNames, n: number): string {
  const record = names.of(n);
  const [kind, id] = reader.statement("SELECT kind, id FROM history_records WHERE n = +?").values(n)[0] as [
    number,
    string,
  ];
  const host = record === null || record.hostId === null ? null : names.ofId(record.hostId);
  return JSON.stringify({
    entity_type: nameOf(kind),
    id,
    name: record?.name ?? null,
    network_id: record?.networkId ?? null,
    host: host === null ? null : { id: host.id, name: host.name },
  }).slice(1, -1);
}

function endMembers({ thinnedHistory: thinnedPast }: Reader, { first, last }: Tally): string {
  return `"first":"${formatInstant(thinnedPast.instantOf(first))}","last":"${formatInstant(thinnedPast.instantOf(last))}"`;
}

function nameOf(code: number): string {
  const kind = KINDS.find((each) => each.code === code);
  if (kind === undefined) throw new Error(`activity: no kind has the code ${code}`);
  return kind.name;
}
