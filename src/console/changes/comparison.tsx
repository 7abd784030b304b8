// Comparison of a record and its parts between two instants. The page requests it once; each part shows its change
// sign, previous field values and removed records.

import { type ComponentChildren, createContext } from "preact";
import { useContext, useRef } from "preact/hooks";
import { type Answer, useAnswer } from "../api/answer.ts";
import type { Read } from "../api/client.ts";
import { type DiffQuery, diffRead, fromAToB } from "../api/diff.ts";
import type { DiffData } from "../api/diff-data.ts";
import { refreshNow } from "../api/fresh.ts";
import { NamedAsOf } from "../names/named.tsx";
import { ObservedSwitch } from "../parts/observed-switch.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { comparisonText } from "../text/compare.ts";
import { groupedDigits } from "../text/digits.ts";
import { ownValue } from "../text/own-value.ts";
import { type ComparedEnds, compared } from "../time/compared.ts";
import { Value } from "../values/value.tsx";
import { Difference } from "./difference.tsx";

/** Diff query of a page. */
export type DiffOf = Pick<DiffQuery, "types" | "ids" | "network_id" | "host_id" | "filter">;

type Change = "added" | "removed" | "changed";

export interface Comparison {
  readonly ends: ComparedEnds;
  /** Undefined while loading. */
  readonly diff: DiffData | undefined;
  readonly answers: readonly Answer<DiffData>[];
  /** API addresses of the diffs. */
  readonly urls: readonly string[];
  readonly changes: ReadonlyMap<string, { readonly change: Change; readonly before: ReadonlyMap<string, unknown> }>;
}

/** Records marked on a page; the comparison page shows the rest. */
const LIMIT = 1_000;
/** Slower refresh: a record with all its parts may be large. */
const EVERY_MS = 2_000;

/** Comparison of the page; null without one. */
const PageComparison = createContext<Comparison | null>(null);

/** Comparison that matches the shown answer; see `AsAnswered`. */
export const ShownComparison = createContext<Comparison | null>(null);

interface WithComparisonProps {
  readonly comparison: Comparison | null;
  readonly children: ComponentChildren;
}

/** Provides the comparison to its children. */
export function WithComparison({ comparison, children }: WithComparisonProps) {
  return (
    <PageComparison.Provider value={comparison}>
      <ShownComparison.Provider value={comparison}>{children}</ShownComparison.Provider>
    </PageComparison.Provider>
  );
}

interface AsAnsweredProps {
  /** Whether the children show the answer to a previous request. */
  readonly isEarlier: boolean;
  readonly children: ComponentChildren;
}

/**
 * For content with an answer of its own. Keeps the earlier comparison while an earlier answer is shown: when A and B
 * are swapped, the differences turn around at once, the records a moment later.
 */
export function AsAnswered({ isEarlier, children }: AsAnsweredProps) {
  const comparison = useContext(PageComparison);
  const shown = useRef(isEarlier ? null : comparison);
  if (!isEarlier) shown.current = comparison;
  return <ShownComparison.Provider value={shown.current}>{children}</ShownComparison.Provider>;
}

/**
 * Requests the differences; null without a comparison.
 * @param of up to three queries, whose results are merged
 */
export function useComparison(of: readonly DiffOf[]): Comparison | null {
  const ends = compared.value;
  const reads = of.flatMap((each) => (ends === null ? [] : [diffRead(ends, { ...each, limit: LIMIT })]));
  const [first, second, third] = [useDiff(reads[0], of[0]), useDiff(reads[1], of[1]), useDiff(reads[2], of[2])];
  if (ends === null) return null;
  const answers = [first, second, third]
    .slice(0, reads.length)
    .map((answer) => ({ ...answer, data: answer.data && fromAToB(answer.data, ends) }));
  const known = answers.flatMap(({ data, isEarlier }) => (data === undefined || isEarlier ? [] : [data]));
  const diff = known.length === answers.length ? together(known) : undefined;
  return { ends, diff, answers, urls: reads.map(({ url }) => url), changes: changesIn(diff) };
}

function useDiff(asked: Read<DiffData> | undefined, of: DiffOf | undefined): Answer<DiffData> {
  const { types, ids, network_id, host_id } = of ?? {};
  const id = ids?.length === 1 ? ids[0] : undefined;
  return useAnswer(asked ?? null, { how: "refresh", everyMs: EVERY_MS, types, id, network_id, host_id });
}

function together(all: readonly DiffData[]): DiffData | undefined {
  const [first, ...rest] = all;
  if (first === undefined) return undefined;
  // A record in several results is listed once.
  const once = <Row extends { readonly id: string }>(rowsOf: (diff: DiffData) => readonly Row[]): Row[] => [
    ...new Map([first, ...rest].flatMap(rowsOf).map((row) => [row.id, row])).values(),
  ];
  return { ...first, added: once((d) => d.added), removed: once((d) => d.removed), changed: once((d) => d.changed) };
}

function changesIn(diff: DiffData | undefined): Comparison["changes"] {
  const changes = new Map<string, { change: Change; before: ReadonlyMap<string, unknown> }>();
  for (const { id } of diff?.added ?? []) changes.set(id, { change: "added", before: NOTHING });
  for (const { id } of diff?.removed ?? []) changes.set(id, { change: "removed", before: NOTHING });
  for (const { id, fields } of diff?.changed ?? [])
    changes.set(id, { change: "changed", before: new Map(fields.map(({ field, from }) => [field, from])) });
  return changes;
}

const NOTHING: ReadonlyMap<string, unknown> = new Map();

interface ComparisonListProps {
  /** Kind of the page's own record, if compared itself: some of its fields can be restored. */
  readonly own?: string | undefined;
}

const moreInLists = (count: number) => `${groupedDigits(count)} more: the lists of their kinds, compared, show all.`;

/** `1 added, 12 changed`; empty for nothing. */
const summaryOf = (counts: Readonly<Record<"added" | "removed" | "changed", number>>) =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([change, count]) => `${groupedDigits(count)} ${change}`)
    .join(", ");

/** List of all differences, a note that there are none, or the problem. */
export function ComparisonList({ own }: ComparisonListProps) {
  const comparison = useContext(ShownComparison);
  if (comparison === null || comparison.answers.length === 0) return null;
  const { diff, answers } = comparison;
  const failed = answers.find(({ problem }) => problem !== undefined);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable
    <section class="comparison-list" tabIndex={0} aria-label="Changes from A to B">
      <h2>Changes from A to B{diff !== undefined && <span class="aside"> {summaryOf(countsIn(answers))}</span>}</h2>
      <ObservedSwitch />
      {failed?.problem !== undefined && <Problem problem={failed.problem} again={failed.again} />}
      {diff === undefined && failed === undefined && <Waiting />}
      {own !== undefined && comparison.ends.to === null && diff !== undefined && isPartsAlone(own, answers) && (
        <p class="aside" role="status">
          Its own fields are unchanged; only its ports, addresses and other parts differ.
        </p>
      )}
      {diff !== undefined &&
        (diff.added.length + diff.removed.length + diff.changed.length === 0 ? (
          <p class="aside" role="status">
            No differences between A and B.
          </p>
        ) : (
          <Difference
            diff={diff}
            more={moreInLists}
            {...(comparison.ends.to === null ? { onWritten: refreshNow } : {})}
          />
        ))}
    </section>
  );
}

/** Whether there are differences, but none in the record itself. */
function isPartsAlone(own: string, answers: Comparison["answers"]): boolean {
  const { added, removed, changed } = countsIn(answers);
  if (added + removed + changed === 0 || answers.some(({ data }) => data === undefined)) return false;
  return answers.every(({ data }) => Object.keys(ownValue(data?.counts, own) ?? {}).length === 0);
}

function countsIn(answers: Comparison["answers"]): Readonly<Record<Change, number>> {
  const sum = { added: 0, removed: 0, changed: 0 };
  for (const { data } of answers)
    for (const { added = 0, removed = 0, changed = 0 } of Object.values(data?.counts ?? {})) {
      sum.added += added;
      sum.removed += removed;
      sum.changed += changed;
    }
  return sum;
}

/** Change of a record, as a word; empty if unchanged or not compared. */
export function ChangeSign({ id }: { readonly id: string }) {
  const change = useContext(ShownComparison)?.changes.get(id)?.change;
  if (change === undefined) return null;
  return (
    <>
      <span class={`sign ${change}`}>{comparisonText.changes[change]}</span>{" "}
    </>
  );
}

/** Resolves names of removed records at the earlier instant. */
export function AsItWas({ id, children }: { readonly id: string; readonly children: ComponentChildren }) {
  const comparison = useContext(ShownComparison);
  if (comparison?.changes.get(id)?.change !== "removed") return <>{children}</>;
  return <NamedAsOf.Provider value={{ at: comparison.ends.from }}>{children}</NamedAsOf.Provider>;
}

/** Lookup of a record's change. */
export function useChangeOf(): (id: string) => Change | undefined {
  const changes = useContext(ShownComparison)?.changes;
  return (id) => changes?.get(id)?.change;
}

/** Lookup whether a field of a record had a different value. */
export function useWas(id: string): (field: string) => boolean {
  const before = useContext(ShownComparison)?.changes.get(id)?.before;
  return (field) => before?.has(field) === true;
}

/** Previous value of a changed field, shown before the current one; empty if unchanged. */
export function Was({ id, field }: { readonly id: string; readonly field: string }) {
  const comparison = useContext(ShownComparison);
  const before = comparison?.changes.get(id)?.before;
  if (comparison === null || before?.has(field) !== true) return null;
  return (
    <>
      <del class="was">
        <Value field={field} value={before.get(field)} at={comparison.ends.from} />
      </del>{" "}
      <span aria-hidden="true">→</span>{" "}
    </>
  );
}

/** Removed records of a kind, in their last version. */
export function useGone<Row>(type: string): readonly Row[] {
  const removed = useContext(ShownComparison)?.diff?.removed ?? [];
  return removed.flatMap((each) => (each.entity_type === type ? [each.record as Row] : []));
}
