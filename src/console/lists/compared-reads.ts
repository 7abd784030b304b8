// List rows compared between two timestamps, in windows: either all rows of the later one, marked where changed, below
// the removed ones; or only the differences. Few differences are read at once, in list order; many are read per window.

import type { Answered, Read } from "../api/client.ts";
import { type DiffQuery, diffRead, fromAToB } from "../api/diff.ts";
import type { DiffData } from "../api/diff-data.ts";
import { IDS_MAX, idGroups } from "../api/ids.ts";
import type { ComparedEnds } from "../time/compared.ts";
import type { AnyList, ListQuery } from "./list.ts";
import type { WindowRead } from "./long-list.ts";
import { rowOrder } from "./row-order.ts";

export type Change = "added" | "removed" | "changed";

/** Record at both timestamps. */
export interface ComparedRow {
  readonly id: string;
  /** Null if unchanged. */
  readonly change: Change | null;
  /** Record at A, if changed or removed. */
  readonly before: unknown;
  /** Undefined if removed. */
  readonly after: unknown;
  /** Changed fields. */
  readonly fields: readonly string[];
}

export type ChangeCounts = Readonly<Record<Change, number>>;

interface ComparedReadsOptions {
  readonly list: AnyList;
  readonly query: ListQuery;
  /** Keys of the columns shown. */
  readonly keys: readonly string[];
  readonly ends: ComparedEnds;
  /** Null for all rows. */
  readonly only: "differences" | Change | null;
}

interface Whole {
  readonly counts: ChangeCounts;
  /** All differences, in API order; null if there are too many. */
  readonly differences: readonly Difference[] | null;
  /** Rows above those of the later timestamp; null if read per window. */
  readonly above: readonly ComparedRow[] | null;
}

interface Difference {
  readonly id: string;
  readonly change: Change;
  readonly fields: readonly string[];
}

/** Most differences to read at once. */
export const WHOLE_MAX = 1_000;

export class ComparedReads {
  private readonly options: ComparedReadsOptions;
  private readonly wholes = new Map<string | undefined, Promise<Whole>>();
  private readonly ordered = new Map<string | undefined, Promise<readonly ComparedRow[]>>();

  constructor(options: ComparedReadsOptions) {
    this.options = options;
  }

  /**
   * Diff of the list.
   * @param to undefined for now
   * @param besides parameters of a partial read: a page, one change type, some records
   */
  diff(to: string | undefined, besides: DiffQuery = {}): Read<DiffData> {
    const { list, query, ends } = this.options;
    const { network_id, filter } = query;
    return diffRead(
      { ...ends, to: to ?? null },
      {
        types: [list.kind] as never,
        ...(network_id === undefined ? {} : { network_id }),
        ...(filter === undefined ? {} : { filter }),
        ...besides,
      },
    );
  }

  private async load(asked: Read<DiffData>, signal?: AbortSignal): Promise<DiffData> {
    return fromAToB((await asked.load(signal)).data, this.options.ends);
  }

  /** Diff of the rows shown, without paging. */
  shownDiff(to: string | undefined): Read<DiffData> {
    const { only } = this.options;
    return this.diff(to, only === null || only === "differences" ? {} : { change: [only] });
  }

  /** One window; `meta` contains the counts in addition to pagination. */
  readonly windowOf: WindowRead<ComparedRow> = ({ at, limit, offset }) => ({
    url: this.shownDiff(at).url,
    load: async (signal) => {
      const whole = await this.whole(at, signal);
      const window = { at, limit, offset };
      const { rows, total } = await (this.options.only === null
        ? this.allRows(whole, window, signal)
        : this.differingRows(whole, window, signal));
      return { data: rows, meta: { pagination: { total_count: total }, counts: whole.counts } };
    },
  });

  private whole(at: string | undefined, signal?: AbortSignal): Promise<Whole> {
    return once(this.wholes, at, () => this.readWhole(at, signal));
  }

  private async readWhole(at: string | undefined, signal?: AbortSignal): Promise<Whole> {
    // All change types: the filter by type applies to rows, not to counts.
    const data = await this.load(this.diff(at, { limit: WHOLE_MAX }), signal);
    const counts = countsIn(data);
    const isWhole = counts.added + counts.removed + counts.changed <= WHOLE_MAX;
    const differences = isWhole ? this.differencesIn(data) : null;
    const above = differences === null || this.options.only !== null ? null : await this.above(differences, at, signal);
    return { counts, differences, above };
  }

  /** Removed records, and existing ones that no longer match the filter. */
  private async above(
    differences: readonly Difference[],
    at: string | undefined,
    signal?: AbortSignal,
  ): Promise<ComparedRow[]> {
    const { filter } = this.options.query;
    const changed = differences.filter(({ change }) => change === "changed");
    const found = filter === undefined ? null : await this.recordsOf(changed.map(idOf), at, signal, filter);
    const left = found === null ? [] : changed.filter(({ id }) => !found.has(id));
    const removed = differences.filter(({ change }) => change === "removed");
    return this.inOrder(await this.rowsOf([...removed, ...left], at, signal));
  }

  private async allRows(whole: Whole, { at, limit, offset }: Window, signal?: AbortSignal) {
    const { list, query, keys } = this.options;
    const aboveCount = whole.above?.length ?? whole.counts.removed;
    const above =
      offset >= aboveCount
        ? []
        : (whole.above?.slice(offset, offset + limit) ??
          (await this.page({ at, limit: Math.min(limit, aboveCount - offset), offset }, "removed", signal)));
    const below = list.readWith(
      query,
      keys,
    )({
      ...(at === undefined ? {} : { at }),
      limit: Math.max(1, limit - above.length),
      offset: Math.max(0, offset - aboveCount),
    });
    const { data, meta } = await below.load(signal);
    const records = data.slice(0, limit - above.length);
    const total = (meta as { pagination: { total_count: number } }).pagination.total_count;
    const marked = await this.marked(records, whole, at, signal);
    return { rows: [...above, ...marked], total: aboveCount + total };
  }

  private async differingRows({ counts, differences }: Whole, window: Window, signal?: AbortSignal) {
    const only = this.options.only === "differences" ? null : this.options.only;
    const total = only === null || only === undefined ? counts.added + counts.removed + counts.changed : counts[only];
    if (differences === null) return { rows: await this.page(window, only, signal), total };
    const wanted = differences.filter(({ change }) => only === null || change === only);
    const rows = await once(this.ordered, window.at, async () =>
      this.inOrder(await this.rowsOf(wanted, window.at, signal)),
    );
    return { rows: rows.slice(window.offset, window.offset + window.limit), total };
  }

  /** Differences in API order, with their records. */
  private async page({ at, limit, offset }: Window, only: Change | null, signal?: AbortSignal): Promise<ComparedRow[]> {
    const asked = this.diff(at, { ...(only === null ? {} : { change: [only] }), limit, offset });
    return this.rowsOf(this.differencesIn(await this.load(asked, signal)), at, signal);
  }

  /** Records at the later timestamp, with their differences. */
  private async marked(
    records: readonly unknown[],
    { differences }: Whole,
    at: string | undefined,
    signal?: AbortSignal,
  ): Promise<ComparedRow[]> {
    const ids = records.map((record) => this.options.list.idOf(record));
    const known = differences ?? (await this.differencesOf(ids, at, signal));
    const byId = new Map(known.map((difference) => [difference.id, difference]));
    const changed = ids.filter((id) => byId.get(id)?.change === "changed");
    const before = await this.recordsOf(changed, this.options.ends.from, signal);
    return records.map((after, place) => {
      const id = ids[place] ?? "";
      const difference = byId.get(id);
      // A record in the list but not in the diff was written between the two reads.
      return {
        id,
        change: difference?.change ?? null,
        fields: difference?.fields ?? [],
        before: before.get(id),
        after,
      };
    });
  }

  private async differencesOf(
    ids: readonly string[],
    to: string | undefined,
    signal?: AbortSignal,
  ): Promise<readonly Difference[]> {
    // Without the filter: these records match at B, but not necessarily at A.
    const { list, ends } = this.options;
    const asked = diffRead({ ...ends, to: to ?? null }, { types: [list.kind] as never, ids: [...ids] });
    return ids.length === 0 ? [] : this.differencesIn(await this.load(asked, signal));
  }

  /** In API order, which starts with records that exist only at the later timestamp. */
  private differencesIn({ added, removed, changed }: DiffData): Difference[] {
    const came = added.map(({ id }) => ({ id, change: "added" as const, fields: [] }));
    const went = removed.map(({ id }) => ({ id, change: "removed" as const, fields: [] }));
    return [
      ...(this.options.ends.isBackwards ? [...went, ...came] : [...came, ...went]),
      ...changed.map(({ id, fields }) => ({
        id,
        change: "changed" as const,
        fields: fields.map(({ field }) => field),
      })),
    ];
  }

  /** Differences with both records; omits those that meanwhile have neither. */
  private async rowsOf(
    differences: readonly Difference[],
    at: string | undefined,
    signal?: AbortSignal,
  ): Promise<ComparedRow[]> {
    const idsBut = (not: Change) => differences.filter(({ change }) => change !== not).map(idOf);
    const [before, after] = await Promise.all([
      this.recordsOf(idsBut("added"), this.options.ends.from, signal),
      this.recordsOf(idsBut("removed"), at, signal),
    ]);
    return differences
      .map((difference) => ({ ...difference, before: before.get(difference.id), after: after.get(difference.id) }))
      .filter((row) => row.before !== undefined || row.after !== undefined);
  }

  /** Records by id, at a timestamp. */
  private async recordsOf(
    ids: readonly string[],
    at: string | undefined,
    signal?: AbortSignal,
    filter?: string,
  ): Promise<Map<string, unknown>> {
    const { list, keys } = this.options;
    const answers = await Promise.all(
      idGroups(ids).map((batch) => {
        const windowOf = list.readWith({ ids: batch, ...(filter === undefined ? {} : { filter }) }, keys);
        return windowOf({ ...(at === undefined ? {} : { at }), limit: IDS_MAX, offset: 0 }).load(signal);
      }),
    );
    return new Map(answers.flatMap(({ data }) => data.map((record) => [list.idOf(record), record])));
  }

  private inOrder(rows: ComparedRow[]): ComparedRow[] {
    const order = rowOrder(this.options.query);
    return order === null ? rows : rows.toSorted((a, b) => order(a.after ?? a.before, b.after ?? b.before));
  }
}

interface Window {
  readonly at: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

const idOf = ({ id }: { readonly id: string }) => id;

/** Caches a result, unless the request failed. */
function once<Key, Value>(known: Map<Key, Promise<Value>>, key: Key, make: () => Promise<Value>): Promise<Value> {
  const before = known.get(key);
  if (before !== undefined) return before;
  const made = make();
  known.set(key, made);
  made.catch(() => known.delete(key));
  return made;
}

function countsIn({ counts }: DiffData): ChangeCounts {
  const sum = { added: 0, removed: 0, changed: 0 };
  for (const { added = 0, removed = 0, changed = 0 } of Object.values(counts)) {
    sum.added += added;
    sum.removed += removed;
    sum.changed += changed;
  }
  return sum;
}

/** Counts of differences in the `meta` of a window. */
export function countsOfMeta(meta: Answered<unknown, unknown>["meta"]): ChangeCounts | undefined {
  return (meta as { counts?: ChangeCounts } | undefined)?.counts;
}
