// Reads list rows compared between two timestamps, in windows: either all rows of the later one, marked where changed,
// below the removed ones; or only the differences. A few differences are read at once, in list order; many, per window.

import type { Read, ResponseData } from "../api/client.ts";
import { type DiffQuery, diffRead, fromAToB } from "../api/diff.ts";
import type { DiffData } from "../api/diff-data.ts";
import { IDS_MAX, idGroups } from "../api/ids.ts";
import { type Change, type ChangeCounts, countsIn, totalOf } from "../history/change-counts.ts";
import type { ComparedEnds } from "../time/compared.ts";
import type { AnyList, ListQuery } from "./list.ts";
import type { WindowRead } from "./long-list.ts";
import { rowOrder } from "./row-order.ts";

/** A record at both timestamps. */
export interface ComparedRow {
  readonly id: string;
  /** Null if unchanged. */
  readonly change: Change | null;
  /** Record at A, if changed or removed. */
  readonly before: unknown;
  /** Record at B; undefined if removed. */
  readonly after: unknown;
  /** Names of changed fields. */
  readonly fields: readonly string[];
}

interface ComparedReadsOptions {
  readonly list: AnyList;
  readonly query: ListQuery;
  /** Keys of the columns shown. */
  readonly keys: readonly string[];
  readonly ends: ComparedEnds;
  readonly only: RowChoice;
}

/** Rows to show: all (null), all differences, or one type of change. */
export type RowChoice = "differences" | Change | null;

interface ReadOptions {
  /** Later timestamp; undefined for now. */
  readonly at: string | undefined;
  readonly signal: AbortSignal | undefined;
}

interface Window extends ReadOptions {
  readonly limit: number;
  readonly offset: number;
}

interface FullDiff {
  readonly counts: ChangeCounts;
  /** All differences in API order; null if there are too many. */
  readonly differences: readonly Difference[] | null;
  /** Rows above those of the later timestamp; null if read per window. */
  readonly above: readonly ComparedRow[] | null;
}

interface Difference {
  readonly id: string;
  readonly change: Change;
  readonly fields: readonly string[];
}

/** Maximum number of differences to read at once. */
export const FULL_DIFF_MAX = 1_000;

export class ComparedReads {
  private readonly options: ComparedReadsOptions;
  private readonly fullDiffs = new Map<string | undefined, Promise<FullDiff>>();
  private readonly ordered = new Map<string | undefined, Promise<readonly ComparedRow[]>>();

  constructor(options: ComparedReadsOptions) {
    this.options = options;
  }

  /** Diff request for the list. @param to undefined for now @param extraQuery limits it to a page or change type */
  diff(to: string | undefined, extraQuery: DiffQuery = {}): Read<DiffData> {
    const { list, query, ends } = this.options;
    const { network_id, filter } = query;
    return diffRead(
      { ...ends, to: to ?? null },
      {
        types: [list.kind] as never,
        ...(network_id === undefined ? {} : { network_id }),
        ...(filter === undefined ? {} : { filter }),
        ...extraQuery,
      },
    );
  }

  private async load(request: Read<DiffData>, signal?: AbortSignal): Promise<DiffData> {
    return fromAToB((await request.load(signal)).data, this.options.ends);
  }

  /** Diff request for the rows shown, without paging. */
  shownDiff(to: string | undefined): Read<DiffData> {
    const { only } = this.options;
    return this.diff(to, only === null || only === "differences" ? {} : { change: [only] });
  }

  /** Reads one window; its `meta` contains the counts in addition to the pagination. */
  readonly windowOf: WindowRead<ComparedRow> = ({ at, limit, offset }) => ({
    url: this.shownDiff(at).url,
    load: async (signal) => {
      const window = { at, signal, limit, offset };
      const fullDiff = await this.fullDiff(window);
      const { rows, total } = await (this.options.only === null
        ? this.allRows(fullDiff, window)
        : this.differingRows(fullDiff, window));
      return { data: rows, meta: { pagination: { total_count: total }, counts: fullDiff.counts } };
    },
  });

  private fullDiff(options: ReadOptions): Promise<FullDiff> {
    return cached(this.fullDiffs, options.at, async () => {
      // Reads all change types: the choice of rows does not apply to the counts.
      const data = await this.load(this.diff(options.at, { limit: FULL_DIFF_MAX }), options.signal);
      const counts = countsIn([data]);
      const differences = totalOf(counts) <= FULL_DIFF_MAX ? this.differencesIn(data) : null;
      const above = differences === null || this.options.only !== null ? null : await this.above(differences, options);
      return { counts, differences, above };
    });
  }

  /** Rows for removed records and for existing ones that no longer match the filter. */
  private async above(differences: readonly Difference[], options: ReadOptions): Promise<ComparedRow[]> {
    const { filter } = this.options.query;
    const changed = differences.filter(({ change }) => change === "changed");
    const found = filter === undefined ? null : await this.recordsOf(changed.map(idOf), options, filter);
    const unmatched = found === null ? [] : changed.filter(({ id }) => !found.has(id));
    const removed = differences.filter(({ change }) => change === "removed");
    return this.sorted(await this.rowsOf([...removed, ...unmatched], options));
  }

  private async allRows(fullDiff: FullDiff, window: Window) {
    const { list, query, keys } = this.options;
    const { at, limit, offset, signal } = window;
    const aboveCount = fullDiff.above?.length ?? fullDiff.counts.removed;
    const above =
      offset >= aboveCount
        ? []
        : (fullDiff.above?.slice(offset, offset + limit) ??
          (await this.page({ ...window, limit: Math.min(limit, aboveCount - offset) }, "removed")));
    const belowLimit = limit - above.length;
    const windowOf = list.windowReader(query, keys);
    const below = windowOf({ at, limit: Math.max(1, belowLimit), offset: Math.max(0, offset - aboveCount) });
    const { data, meta } = await below.load(signal);
    const { pagination } = meta as { pagination: { total_count: number } };
    const withChanges = await this.withChanges(data.slice(0, belowLimit), fullDiff, window);
    return { rows: [...above, ...withChanges], total: aboveCount + pagination.total_count };
  }

  private async differingRows({ counts, differences }: FullDiff, window: Window) {
    const only = this.options.only === "differences" ? null : this.options.only;
    const total = only === null ? totalOf(counts) : counts[only];
    if (differences === null) return { rows: await this.page(window, only), total };
    const selected = differences.filter(({ change }) => only === null || change === only);
    const rows = await cached(this.ordered, window.at, async () => this.sorted(await this.rowsOf(selected, window)));
    return { rows: rows.slice(window.offset, window.offset + window.limit), total };
  }

  /** One page of differences in API order, with their records. */
  private async page({ limit, offset, ...options }: Window, only: Change | null): Promise<ComparedRow[]> {
    const request = this.diff(options.at, { ...(only === null ? {} : { change: [only] }), limit, offset });
    return this.rowsOf(this.differencesIn(await this.load(request, options.signal)), options);
  }

  /** Records at the later timestamp, with their differences. */
  private async withChanges(records: readonly unknown[], { differences }: FullDiff, options: ReadOptions) {
    const ids = records.map((record) => this.options.list.idOf(record));
    const loaded = differences ?? (await this.differencesOf(ids, options));
    const byId = new Map(loaded.map((difference) => [difference.id, difference]));
    const changed = ids.filter((id) => byId.get(id)?.change === "changed");
    const before = await this.recordsOf(changed, { ...options, at: this.options.ends.from });
    return records.map((after, index): ComparedRow => {
      const id = ids[index] ?? "";
      // A record in the list but not in the diff was written between the two reads.
      const { change = null, fields = [] } = byId.get(id) ?? {};
      return { id, change, fields, before: before.get(id), after };
    });
  }

  private async differencesOf(ids: readonly string[], { at, signal }: ReadOptions): Promise<readonly Difference[]> {
    // Omits the filter: these records match it at B, but not necessarily at A.
    const { list, ends } = this.options;
    const request = diffRead({ ...ends, to: at ?? null }, { types: [list.kind] as never, ids: [...ids] });
    return ids.length === 0 ? [] : this.differencesIn(await this.load(request, signal));
  }

  /** Differences of a diff in API order, which starts with records that exist only at the later timestamp. */
  private differencesIn({ added, removed, changed }: DiffData): Difference[] {
    const addedRows = added.map(({ id }) => ({ id, change: "added" as const, fields: [] }));
    const removedRows = removed.map(({ id }) => ({ id, change: "removed" as const, fields: [] }));
    const namesOf = (fields: DiffData["changed"][number]["fields"]) => fields.map(({ field }) => field);
    return [
      ...(this.options.ends.isBackwards ? [...removedRows, ...addedRows] : [...addedRows, ...removedRows]),
      ...changed.map(({ id, fields }) => ({ id, change: "changed" as const, fields: namesOf(fields) })),
    ];
  }

  /** Rows with the records at both timestamps; omits differences for which neither is found. */
  private async rowsOf(differences: readonly Difference[], options: ReadOptions): Promise<ComparedRow[]> {
    const idsExcept = (excluded: Change) => differences.filter(({ change }) => change !== excluded).map(idOf);
    const [before, after] = await Promise.all([
      this.recordsOf(idsExcept("added"), { ...options, at: this.options.ends.from }),
      this.recordsOf(idsExcept("removed"), options),
    ]);
    return differences
      .map((difference) => ({ ...difference, before: before.get(difference.id), after: after.get(difference.id) }))
      .filter((row) => row.before !== undefined || row.after !== undefined);
  }

  /** Records by id, at a timestamp. */
  private async recordsOf(ids: readonly string[], { at, signal }: ReadOptions, filter?: string) {
    const { list, keys } = this.options;
    const responses = await Promise.all(
      idGroups(ids).map((batch) => {
        const windowOf = list.windowReader({ ids: batch, ...(filter === undefined ? {} : { filter }) }, keys);
        return windowOf({ at, limit: IDS_MAX, offset: 0 }).load(signal);
      }),
    );
    return new Map(responses.flatMap(({ data }) => data.map((record) => [list.idOf(record), record] as const)));
  }

  private sorted(rows: ComparedRow[]): ComparedRow[] {
    const order = rowOrder(this.options.query);
    return order === null ? rows : rows.toSorted((a, b) => order(a.after ?? a.before, b.after ?? b.before));
  }
}

const idOf = ({ id }: { readonly id: string }) => id;

/** Caches a result, unless the request failed. */
function cached<Key, Value>(known: Map<Key, Promise<Value>>, key: Key, create: () => Promise<Value>): Promise<Value> {
  const existing = known.get(key);
  if (existing !== undefined) return existing;
  const result = create();
  known.set(key, result);
  result.catch(() => known.delete(key));
  return result;
}

/** Counts of differences from the `meta` of a window. */
export function countsOfMeta(meta: ResponseData<unknown, unknown>["meta"]): ChangeCounts | undefined {
  return (meta as { counts?: ChangeCounts } | undefined)?.counts;
}
