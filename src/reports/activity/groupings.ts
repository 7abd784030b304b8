// Groupings of changes by time, type, record, field, actor and network: groups, counts and their identifying JSON
// members. Every step is bounded.

import { formatInstant, type Instant } from "../../base/instant.ts";
import type { ChangeCounts } from "../../db/change-counts.ts";
import { ChangeLog, type LedgerEntry, type RecordChange } from "../../db/reading/change-log.ts";
import type { CountedQuery } from "../../db/reading/counted-changes.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { KINDS } from "../../records/resources.ts";
import { networkKind } from "../../resources/networks/network.ts";
import type { Grouping, MeantChanges } from "./meant-changes.ts";
import { NamesThen } from "./names-then.ts";
import { RecordTallies } from "./record-tallies.ts";
import { byMost, Tally } from "./tally.ts";

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
export const GROUPERS: Readonly<Record<Grouping, (meant: MeantChanges, from: Instant) => Generator<void, Groups>>> = {
  time: byTime,
  type: byType,
  record: byRecord,
  field: byField,
  actor: byActor,
  network: byNetwork,
};

function* byTime(meant: MeantChanges, from: Instant): Generator<void, Groups> {
  const { to, after, until, operation, buckets } = meant.input;
  const { thinnedPast } = meant.reader;
  const count = Math.min(buckets, to - from);
  if (count <= 0) return { all: new Tally(), groups: [], count: 0 };
  const instants = Array.from({ length: count + 1 }, (_, place) => from + Math.floor(((to - from) * place) / count));
  const edges = instants.map((at) => Math.min(until, Math.max(after, thinnedPast.lastBefore(at))));
  // The ledger's clock may run ahead: changes with a future timestamp belong to a period that ends now.
  edges[count] = until;
  const kept = meant.kept(meant.query);
  const byBucket = kept === null ? yield* walkedByTime(meant, edges) : yield* kept.between(edges);
  const all = new Tally();
  const groups = byBucket.map((counts, place) => {
    const tally = new Tally();
    const types: string[] = [];
    for (const [code, ofKind] of [...counts].sort(([one], [other]) => one - other)) {
      const before = tally.total;
      tally.addCounts(ofKind, operation);
      if (tally.total > before) types.push(`"${nameOf(code)}":${tally.total - before}`);
    }
    all.addTally(tally);
    const [start, end] = [instants[place] as Instant, instants[place + 1] as Instant];
    return {
      members: `"from":"${formatInstant(start)}","to":"${formatInstant(end)}","types":{${types.join(",")}}`,
      tally,
    };
  });
  return { all, groups, count };
}

function* walkedByTime(
  meant: MeantChanges,
  edges: readonly number[],
): Generator<void, ReadonlyArray<ReadonlyMap<number, ChangeCounts>>> {
  const buckets = edges.slice(1).map(() => new Map<number, ChangeCounts>());
  let place = 0;
  for (const changes of meant.changes()) {
    for (const { sequence, kind, operation } of changes) {
      while (sequence > (edges[place + 1] as number)) place += 1;
      const bucket = buckets[place] as Map<number, ChangeCounts>;
      let counts = bucket.get(kind.code);
      if (counts === undefined) bucket.set(kind.code, (counts = { Created: 0, Updated: 0, Deleted: 0 }));
      counts[operation] += 1;
    }
    yield;
  }
  return buckets;
}

function* byType(meant: MeantChanges): Generator<void, Groups> {
  const tallies = new Map<string, Tally>();
  const { operation } = meant.input;
  const kept = meant.kept(meant.query);
  if (kept === null) yield* meant.walked(meant.query, ({ kind }) => tallyOf(tallies, kind.name));
  else
    for (const { scope, counts, first, last } of yield* kept.ofEach(meant.input, operation)) {
      // The lowest six bits of a scope are its kind, even if the number above them is negative.
      const tally = tallyOf(tallies, nameOf(((scope % 64) + 64) % 64));
      tally.addCounts(counts, operation);
      tally.reach(first, last);
    }
  return most(meant, tallies, (type) => `"entity_type":"${type}"`);
}

function* byRecord(meant: MeantChanges): Generator<void, Groups> {
  const tallies = new RecordTallies();
  const all = new Tally();
  for (const changes of meant.changes()) {
    for (const { n, operation, sequence } of changes) {
      tallies.add(n, operation, sequence);
      all.add(operation, sequence);
    }
    yield;
  }
  const names = namesThen(meant);
  const groups: Group[] = [];
  for (const [place, { n, tally }] of (yield* tallies.most(meant.input.limit)).entries()) {
    groups.push({ members: `${recordMembers(meant.reader, names, n)},${endMembers(meant.reader, tally)}`, tally });
    if (place % STEP_NAMES === STEP_NAMES - 1) yield;
  }
  return { all, groups, count: tallies.size };
}

function* byField(meant: MeantChanges): Generator<void, Groups> {
  const tallies = new Map<string, Tally>();
  const all = new Tally();
  const { fields: wanted } = meant.input;
  for (const changes of meant.changes()) {
    for (const change of changes) {
      const fields = meant.fieldsOf(change).filter((field) => wanted?.includes(field) ?? true);
      if (fields.length > 0) all.add(change.operation, change.sequence);
      for (const field of fields)
        tallyOf(tallies, `"entity_type":"${change.kind.name}","field":${JSON.stringify(field)}`).add(
          change.operation,
          change.sequence,
        );
    }
    yield;
  }
  return { ...most(meant, tallies, (members) => members), all };
}

type ActorOfChange = Pick<LedgerEntry, "sequence" | "actorType" | "actorId" | "actorName">;

function* byActor(meant: MeantChanges): Generator<void, Groups> {
  const tallies = new Map<string, Tally>();
  /** By the most recent name of each actor. */
  const actors = new Map<string, ActorOfChange>();
  const tallyFor = (entry: ActorOfChange): Tally => {
    const key = `${entry.actorType} ${entry.actorId ?? entry.actorName}`;
    if ((actors.get(key)?.sequence ?? 0) <= entry.sequence) actors.set(key, entry);
    return tallyOf(tallies, key);
  };
  const { operation } = meant.input;
  const kept = meant.kept(meant.query);
  if (kept === null) {
    const log = new ChangeLog(meant.reader);
    let entries = new Map<number, LedgerEntry>();
    const look = (changes: readonly RecordChange[]) => {
      entries = log.entries(changes.map(({ sequence }) => sequence));
    };
    yield* meant.walked(meant.query, ({ sequence }) => tallyFor(entries.get(sequence) as LedgerEntry), look);
  } else
    for (const increases of kept.increases(meant.input)) {
      for (const increase of increases) {
        const { counts, sequence } = increase;
        if (operation !== null && counts[operation] === 0) continue;
        const tally = tallyFor(increase);
        tally.addCounts(counts, operation);
        tally.reach(sequence, sequence);
      }
      yield;
    }
  return most(meant, tallies, (key) => {
    const { actorType: type, actorId: id, actorName: name } = actors.get(key) as ActorOfChange;
    return `"actor":${JSON.stringify({ type, id, name })}`;
  });
}

/** One network after the other; null for records in no network. */
function* byNetwork(meant: MeantChanges): Generator<void, Groups> {
  const { query } = meant;
  const tallies = new Map<string, Tally>();
  const places: Array<readonly [string, CountedQuery]> = networksOf(meant.reader, query).map((n) => [
    String(n),
    { ...query, networkN: n },
  ]);
  if (query.networkN === undefined && query.hostN === undefined && query.named === undefined)
    places.push(["", besideNetworks(query)]);
  const { operation } = meant.input;
  for (const [key, inPlace] of places) {
    const tally = new Tally();
    const kept = meant.kept(inPlace);
    if (kept === null) yield* meant.walked(inPlace, () => tally);
    else
      for (const { counts, first, last } of yield* kept.ofEach(meant.input, operation)) {
        tally.addCounts(counts, operation);
        tally.reach(first, last);
      }
    if (tally.total > 0) tallies.set(key, tally);
    yield;
  }
  const names = namesThen(meant);
  return most(meant, tallies, (key) => {
    const network = key === "" ? null : names.of(Number(key));
    return `"network":${network === null ? "null" : JSON.stringify({ id: network.id, name: network.name })}`;
  });
}

/** Query for records that belong to the organization as a whole. */
function besideNetworks(query: CountedQuery): CountedQuery {
  return {
    ...query,
    reach: { organizationN: query.reach.organizationN, networkNs: [] },
    kinds: query.kinds.filter((kind) => kind.scopes.network === undefined || kind.networkIsOptional === true),
  };
}

/** Record numbers of the networks that may contain matching records. */
function networksOf(reader: Reader, { reach, networkN, hostN, named, recordN }: CountedQuery): number[] {
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
function most(meant: MeantChanges, tallies: ReadonlyMap<string, Tally>, members: (key: string) => string): Groups {
  const all = new Tally();
  for (const tally of tallies.values()) all.addTally(tally);
  const groups = [...tallies]
    .sort(([keyOfOne, one], [keyOfOther, other]) => byMost(one, other) || (keyOfOne < keyOfOther ? -1 : 1))
    .slice(0, meant.input.limit)
    .map(([key, tally]) => ({ members: `${members(key)},${endMembers(meant.reader, tally)}`, tally }));
  return { all, groups, count: tallies.size };
}

function namesThen({ reader, input }: MeantChanges): NamesThen {
  return new NamesThen(reader, input.actor, input.until);
}

function recordMembers(reader: Reader, names: NamesThen, n: number): string {
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

function endMembers({ thinnedPast }: Reader, { first, last }: Tally): string {
  return `"first":"${formatInstant(thinnedPast.instantOf(first))}","last":"${formatInstant(thinnedPast.instantOf(last))}"`;
}

function nameOf(code: number): string {
  const kind = KINDS.find((each) => each.code === code);
  if (kind === undefined) throw new Error(`activity: no kind has the code ${code}`);
  return kind.name;
}
