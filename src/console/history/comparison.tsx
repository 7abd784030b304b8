// Record comparison between two timestamps, including parts. The page requests it once; its parts show change labels,
// previous field values and removed records.

import { type ComponentChildren, createContext } from "preact";
import { useContext, useRef } from "preact/hooks";
import type { Read } from "../api/client.ts";
import { type DiffQuery, diffRead, fromAToB } from "../api/diff.ts";
import type { DiffData } from "../api/diff-data.ts";
import { refreshNow } from "../api/fresh.ts";
import { type ApiResponse, useResponse } from "../api/response.ts";
import { ObservedSwitch } from "../components/observed-switch.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { Value } from "../field-values/value.tsx";
import { NamedAsOf } from "../names/named.tsx";
import { comparisonText } from "../text/compare.ts";
import { groupedDigits } from "../text/digits.ts";
import { ownValue } from "../text/own-value.ts";
import { type ComparedEnds, compared } from "../time/compared.ts";
import { type Change, type ChangeCounts, countsIn, totalOf } from "./change-counts.ts";
import { Difference } from "./difference.tsx";

/** Scope of a diff on a page. */
export type DiffScope = Pick<DiffQuery, "types" | "ids" | "network_id" | "host_id" | "filter">;

export interface Comparison {
  readonly ends: ComparedEnds;
  /** Undefined while loading. */
  readonly diff: DiffData | undefined;
  readonly responses: readonly ApiResponse<DiffData>[];
  /** API URLs of the diffs. */
  readonly urls: readonly string[];
  /** Changes by record id, with the previous values of changed fields. */
  readonly changes: ReadonlyMap<string, { readonly change: Change; readonly before: ReadonlyMap<string, unknown> }>;
}

/** Maximum number of records per diff; compared lists show the rest. */
const LIMIT = 1_000;
/** Minimum refresh interval: a record with all its parts may be large. */
const REFRESH_MS = 2_000;

/** The page's comparison; null for none. */
const PageComparison = createContext<Comparison | null>(null);

/** Comparison that matches the response shown; see `MatchingComparison`. */
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

interface MatchingComparisonProps {
  /** Whether the children show the response to a previous request. */
  readonly isEarlier: boolean;
  readonly children: ComponentChildren;
}

/**
 * For content with a separate request. Keeps the previous comparison while a previous response is shown: if A and B are
 * swapped, the differences are reversed immediately, but the records arrive a moment later.
 */
export function MatchingComparison({ isEarlier, children }: MatchingComparisonProps) {
  const comparison = useContext(PageComparison);
  const shown = useRef(isEarlier ? null : comparison);
  if (!isEarlier) shown.current = comparison;
  return <ShownComparison.Provider value={shown.current}>{children}</ShownComparison.Provider>;
}

/** Requests the differences; null without a comparison. @param scopes up to three, whose results are merged */
export function useComparison(scopes: readonly DiffScope[]): Comparison | null {
  const ends = compared.value;
  const reads = scopes.flatMap((scope) => (ends === null ? [] : [diffRead(ends, { ...scope, limit: LIMIT })]));
  const [first, second, third] = [
    useDiff(reads[0], scopes[0]),
    useDiff(reads[1], scopes[1]),
    useDiff(reads[2], scopes[2]),
  ];
  if (ends === null) return null;
  const responses = [first, second, third]
    .slice(0, reads.length)
    .map((response) => ({ ...response, data: response.data && fromAToB(response.data, ends) }));
  const loaded = responses.flatMap(({ data, isEarlier }) => (data === undefined || isEarlier ? [] : [data]));
  const diff = loaded.length === responses.length ? mergedDiff(loaded) : undefined;
  return { ends, diff, responses, urls: reads.map(({ url }) => url), changes: changesIn(diff) };
}

function useDiff(request: Read<DiffData> | undefined, scope: DiffScope | undefined): ApiResponse<DiffData> {
  const { types, ids, network_id, host_id } = scope ?? {};
  const id = ids?.length === 1 ? ids[0] : undefined;
  return useResponse(request ?? null, { how: "refresh", everyMs: REFRESH_MS, types, id, network_id, host_id });
}

function mergedDiff(all: readonly DiffData[]): DiffData | undefined {
  const [first, ...rest] = all;
  if (first === undefined) return undefined;
  // A record in several diffs is listed once.
  const uniqueRows = <Row extends { readonly id: string }>(rowsOf: (diff: DiffData) => readonly Row[]): Row[] => [
    ...new Map([first, ...rest].flatMap(rowsOf).map((row) => [row.id, row])).values(),
  ];
  const [added, removed] = [uniqueRows((diff) => diff.added), uniqueRows((diff) => diff.removed)];
  return { ...first, added, removed, changed: uniqueRows((diff) => diff.changed) };
}

function changesIn(diff: DiffData | undefined): Comparison["changes"] {
  const changes = new Map<string, { change: Change; before: ReadonlyMap<string, unknown> }>();
  for (const { id } of diff?.added ?? []) changes.set(id, { change: "added", before: NO_FIELDS });
  for (const { id } of diff?.removed ?? []) changes.set(id, { change: "removed", before: NO_FIELDS });
  for (const { id, fields } of diff?.changed ?? [])
    changes.set(id, { change: "changed", before: new Map(fields.map(({ field, from }) => [field, from])) });
  return changes;
}

const NO_FIELDS: ReadonlyMap<string, unknown> = new Map();

const moreNote = (count: number) => `${groupedDigits(count)} more. Compare the lists of each kind to see all.`;

/** `1 added, 12 changed`; empty if nothing changed. */
const countsText = (counts: ChangeCounts) =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([change, count]) => `${groupedDigits(count)} ${change}`)
    .join(", ");

/**
 * List of all differences, or a note that there are none.
 * @param ownKind kind of the page's own record, if that is compared itself
 */
export function ComparisonList({ ownKind }: { readonly ownKind?: string | undefined }) {
  const comparison = useContext(ShownComparison);
  if (comparison === null || comparison.responses.length === 0) return null;
  const { diff, responses } = comparison;
  const failed = responses.find(({ problem }) => problem !== undefined);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable
    <section class="comparison-list" tabIndex={0} aria-label="Changes from A to B">
      <h2>Changes from A to B{diff !== undefined && <span class="aside"> {countsText(countsOf(responses))}</span>}</h2>
      <ObservedSwitch />
      <ResponseState data={diff} problem={failed?.problem} retry={() => failed?.retry()} />
      {ownKind !== undefined &&
        comparison.ends.to === null &&
        diff !== undefined &&
        isOnlyPartsChanged(ownKind, responses) && (
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
            more={moreNote}
            {...(comparison.ends.to === null ? { onWritten: () => refreshNow() } : {})}
          />
        ))}
    </section>
  );
}

/** Whether there are differences, but none in the record itself. */
function isOnlyPartsChanged(ownKind: string, responses: Comparison["responses"]): boolean {
  if (totalOf(countsOf(responses)) === 0 || responses.some(({ data }) => data === undefined)) return false;
  return responses.every(({ data }) => Object.keys(ownValue(data?.counts, ownKind) ?? {}).length === 0);
}

function countsOf(responses: Comparison["responses"]): ChangeCounts {
  return countsIn(responses.flatMap(({ data }) => data ?? []));
}

/** Label for a record's change; empty if unchanged or not compared. */
export function ChangeSign({ id }: { readonly id: string }) {
  const change = useContext(ShownComparison)?.changes.get(id)?.change;
  if (change === undefined) return null;
  return (
    <>
      <span class={`sign ${change}`}>{comparisonText.changes[change]}</span>{" "}
    </>
  );
}

/** Looks up names inside a removed record at the earlier timestamp. */
export function NamedAsBefore({ id, children }: { readonly id: string; readonly children: ComponentChildren }) {
  const comparison = useContext(ShownComparison);
  if (comparison?.changes.get(id)?.change !== "removed") return <>{children}</>;
  return <NamedAsOf.Provider value={{ at: comparison.ends.from }}>{children}</NamedAsOf.Provider>;
}

/** Returns a function that looks up a record's change. */
export function useChangeOf(): (id: string) => Change | undefined {
  const changes = useContext(ShownComparison)?.changes;
  return (id) => changes?.get(id)?.change;
}

/** Returns a function that checks whether a field of the record had another value. */
export function useHadOtherValue(id: string): (field: string) => boolean {
  const before = useContext(ShownComparison)?.changes.get(id)?.before;
  return (field) => before?.has(field) === true;
}

/** Previous value of a changed field, shown before the current one; empty if unchanged. */
export function PreviousValue({ id, field }: { readonly id: string; readonly field: string }) {
  const comparison = useContext(ShownComparison);
  const before = comparison?.changes.get(id)?.before;
  if (comparison === null || before?.has(field) !== true) return null;
  return (
    <>
      <del class="previous-value">
        <Value field={field} value={before.get(field)} at={comparison.ends.from} />
      </del>{" "}
      <span aria-hidden="true">→</span>{" "}
    </>
  );
}

/** Removed records of a kind, as of their last version. */
export function useRemoved<Row>(type: string): readonly Row[] {
  const removed = useContext(ShownComparison)?.diff?.removed ?? [];
  return removed.flatMap(({ entity_type, record }) => (entity_type === type ? [record as Row] : []));
}
