// List page: filter, columns, views and rows, with links to the same data as CSV and curl.

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { isObservedTold } from "../api/diff.ts";
import { quoted } from "../api/filter-text.ts";
import { useFresh } from "../api/fresh.ts";
import type { Refusal } from "../api/refusal.ts";
import { BulkButtons, BulkPlace, type BulkVerb } from "../bulk/bulk-place.tsx";
import type { BulkScope } from "../bulk/scope.ts";
import { TableButton, TablePlace } from "../bulk/table-place.tsx";
import { EditPlace, hrefEditing, hrefRemoving, mayWrite, NewButton } from "../editing/edit-place.tsx";
import type { KindDetails } from "../kinds/details.ts";
import { type EditedKind, entryOf, isEditedKind, type ListedKind } from "../kinds/kinds.ts";
import { historyPage } from "../names/record-page.ts";
import { csvOf } from "../parts/curl.ts";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { ScanRecords } from "../scanning/scan-offer.tsx";
import { StartLink } from "../scanning/start-link.tsx";
import { comparisonText } from "../text/compare.ts";
import { counted, groupedDigits, type Words } from "../text/digits.ts";
import { editText } from "../text/editing.ts";
import { at, isPast, network, vs } from "../time/at.ts";
import { type ComparedEnds, compared } from "../time/compared.ts";
import { go, hrefHere, hrefOf, parameter } from "../url/location.ts";
import { ColumnFilter } from "./column-filter.tsx";
import { ColumnsMenu } from "./columns-menu.tsx";
import { ComparedReads, countsOfMeta, WHOLE_MAX } from "./compared-reads.ts";
import { comparedList, comparedState } from "./compared-rows.tsx";
import { ComparisonBar, shownOfComparison } from "./comparison-bar.tsx";
import { withCustomColumns } from "./custom-columns.tsx";
import { FilterField } from "./filter-field.tsx";
import { type AnyList, type ListQuery, listOf } from "./list.ts";
import { type ListState, listState, queryOf } from "./list-state.ts";
import { hrefUnfiltered, ListTable } from "./list-table.tsx";
import { type LongList, useLongList } from "./long-list.ts";
import { ViewsMenu } from "./views-menu.tsx";

/** Longer lists must be filtered rather than scrolled. */
const ROWS_MAX = 100_000;

/** Action on the selected rows. */
interface SelectedAction {
  readonly verb: string;
  /** Whether the user may perform it at the timestamp shown. */
  readonly isOffered: boolean;
  /** @param end cancels or closes the action @param done called after a successful write */
  show(ids: readonly string[], end: () => void, done: () => void): ComponentChildren;
}

/** Additional content of a list page. */
export interface Around {
  readonly selected?: SelectedAction;
  /** Between title and filter. */
  readonly above?: ComponentChildren;
}

interface ListPageProps extends Around {
  readonly list: AnyList;
}

export function ListPage(props: ListPageProps) {
  const ends = compared.value;
  const list = withCustomColumns(props.list);
  return ends === null ? <PlainList {...props} list={list} /> : <ComparedList {...props} list={list} ends={ends} />;
}

function PlainList({ list, above, selected }: ListPageProps) {
  const state = listState(list);
  const query = queryOf(list, state, networkOf(list));
  const keys = state.columns.map(({ key }) => key);
  const name = `${list.path} ${JSON.stringify([query, list.asksWith(keys)])}`;
  const rows = useLongList(name, at.value, list.readWith(query, keys));
  const address = addressOf(list, query, at.value);
  return (
    <ListFrame
      list={list}
      above={above}
      selected={selected}
      state={state}
      rows={rows}
      isNow={at.value === null}
      read={`${address}${address.includes("?") ? "&" : "?"}limit=0`}
      csv={csvOf(address)}
      nothing={<Nothing list={list} isFiltered={state.filter !== ""} />}
    />
  );
}

const unordered = (count: number) =>
  `More than ${groupedDigits(count)} differ: they stand by what happened, in the order in which they were made. Filter the list to have them in its order.`;

/** List of two timestamps, with removed rows above those of the later one. */
function ComparedList({ list, above, ends }: ListPageProps & { readonly ends: ComparedEnds }) {
  const state = listState(list);
  const query = queryOf(list, state, networkOf(list));
  const keys = state.columns.map(({ key }) => key);
  const only = shownOfComparison();
  const [turn, setTurn] = useState(0);
  const name = `${list.path} ${JSON.stringify([query, keys, only, ends.from, isObservedTold()])} ${turn}`;
  const reads = useMemo(() => new ComparedReads({ list, query, keys, ends, only }), [name, ends.to]);
  const rows = useLongList(name, ends.to, reads.windowOf);
  const counts = countsOfMeta(rows.meta);
  const total = counts === undefined ? undefined : counts.added + counts.removed + counts.changed;
  const isUnordered = total !== undefined && total > WHOLE_MAX;
  const { url } = reads.shownDiff(ends.to ?? undefined);
  return (
    <ListFrame
      list={comparedList(list)}
      above={above}
      state={comparedState(state, ends)}
      rows={{ ...rows, again: () => setTurn((last) => last + 1) } as LongList<unknown>}
      isNow={ends.to === null}
      read={url}
      csv={`${url}&format=csv`}
      tools={
        <>
          <ComparisonBar counts={rows.isEarlier ? undefined : counts} />
          {total === 0 && !rows.isEarlier && <p role="status">{comparisonText.nothingHere}</p>}
          {isUnordered && only !== null && <p class="aside">{unordered(WHOLE_MAX)}</p>}
          {isUnordered && only === null && (counts?.removed ?? 0) > 1 && (
            <p class="aside">
              More than {groupedDigits(WHOLE_MAX)} differ: what was removed stands in the order in which it was made.
              Filter the list to have it in its order.
            </p>
          )}
        </>
      }
      nothing={only === null ? <Nothing list={list} isFiltered={state.filter !== ""} /> : null}
    />
  );
}

interface ListFrameProps {
  readonly list: AnyList;
  readonly above: ComponentChildren;
  readonly selected?: SelectedAction | undefined;
  readonly state: ListState;
  readonly rows: LongList<unknown>;
  readonly isNow: boolean;
  /** API URL of the rows shown, and its CSV version. */
  readonly read: string;
  readonly csv: string | null;
  readonly tools?: ComponentChildren;
  /** Content for an empty list. */
  readonly nothing: ComponentChildren;
}

const ofFilter = (count: number, words: Words) =>
  `All ${groupedDigits(count)} matching ${count === 1 ? words[0] : words[1]}`;

function ListFrame(props: ListFrameProps) {
  const { list, above, selected, state, rows, nothing } = props;
  useFresh({
    live: props.isNow ? { how: "offer", types: [list.kind], network_id: networkOf(list) } : null,
    name: `${list.path} ${rows.at}`,
    sinceMs: rows.at === null ? undefined : Date.parse(rows.at),
    again: rows.again,
  });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [filtered, setFiltered] = useState<string | null>(null);
  const [acted, setActed] = useState<readonly string[] | null>(null);
  const choose = (id: string) =>
    setChosen((last) => (last.has(id) ? new Set([...last].filter((each) => each !== id)) : new Set(last).add(id)));
  const chooseAll = (ids: readonly string[]) => setChosen((last) => new Set([...last, ...ids]));
  const kind = isEditedKind(list.kind) ? list.kind : null;
  const [bulk, setBulk] = useState<{ readonly verb: BulkVerb; readonly scope: BulkScope } | null>(null);
  const scopeOf = (ids: readonly string[] | null): BulkScope => ({
    kind: kind as EditedKind,
    ids,
    filter: state.filter,
    networkId: networkOf(list),
    count: ids?.length ?? rows.count ?? 0,
  });
  const bulkOf = (ids: readonly string[] | null) => (verb: BulkVerb) => setBulk({ verb, scope: scopeOf(ids) });
  // Actions end once the list shows the past or a comparison; a bulk action on a filter, once filter or network change.
  const isBulkOver =
    bulk !== null &&
    (isPast.value ||
      vs.value !== null ||
      (bulk.scope.ids === null && (bulk.scope.filter !== state.filter || bulk.scope.networkId !== networkOf(list))));
  const isActOver = selected?.isOffered !== true;
  useEffect(() => {
    if (isBulkOver) setBulk(null);
    if (isActOver) setActed(null);
  }, [isBulkOver, isActOver]);
  const isFilteredNow = props.isNow && state.filter !== "" && !rows.isEarlier && (rows.count ?? 0) > 1;
  const filterProblem = rows.problem !== undefined && isOfFilter(rows.problem) ? rows.problem : undefined;
  return (
    <Page
      title={list.title}
      count={rows.count === undefined || rows.isEarlier ? null : counted(rows.count, list.one, list.many)}
      reads={[props.read]}
      csv={props.csv}
      actions={kind !== null && <NewButton kind={kind} />}
      moreActions={kind !== null && <TableButton kind={kind} />}
    >
      {above}
      {kind !== null && <EditPlace presets={{ network_id: networkOf(list) }} onSaved={rows.again} />}
      {kind !== null && <TablePlace key={kind} kind={kind} onSaved={rows.again} />}
      <div class="list-tools">
        <FilterField kind={list.kind} filter={state.filter} example={list.example} problem={filterProblem} />
        <ViewsMenu list={list} />
        <ColumnsMenu list={list} shown={state.columns.map(({ key }) => key)} />
        {chosen.size > 0 && (
          <p class="list-chosen">
            {chosen.size} selected{" "}
            <button
              type="button"
              onClick={() => go(hrefHere({ filter: [...chosen].map((id) => `id = ${quoted(id)}`).join(" OR ") }))}
            >
              Show only the selected
            </button>
            {kind !== null && chosen.size === 1 && mayWrite(kind, "update") && (
              <button type="button" onClick={() => go(hrefEditing(kind, [...chosen][0] ?? ""))}>
                {editText.edit}
              </button>
            )}
            {kind !== null && chosen.size === 1 && mayWrite(kind, "delete") && (
              <button type="button" onClick={() => go(hrefRemoving(kind, [...chosen][0] ?? ""))}>
                {editText.delete}
              </button>
            )}
            {chosen.size === 1 && <HistoryLink kind={list.kind} id={[...chosen][0] ?? ""} />}
            {kind !== null && chosen.size > 1 && bulk === null && (
              <BulkButtons scope={scopeOf([...chosen])} onChoose={bulkOf([...chosen])} />
            )}
            <button
              type="button"
              onClick={() => {
                setChosen(new Set());
                goOnInList();
              }}
            >
              Select none
            </button>
            <ScanRecords kind={list.kind} ids={[...chosen]} />
            {selected?.isOffered === true && acted === null && (
              <button type="button" onClick={() => setActed([...chosen])}>
                {selected.verb}
              </button>
            )}
          </p>
        )}
        {kind !== null && bulk === null && chosen.size === 0 && isFilteredNow && (
          <p class="list-chosen">
            {ofFilter(rows.count ?? 0, [list.one, list.many])}{" "}
            <BulkButtons scope={scopeOf(null)} onChoose={bulkOf(null)} />
          </p>
        )}
      </div>
      {acted !== null &&
        !isActOver &&
        selected?.show(
          acted,
          () => setActed(null),
          () => {
            setChosen(new Set());
            rows.again();
          },
        )}
      {bulk !== null && !isBulkOver && (
        <BulkPlace
          key={bulk.verb}
          verb={bulk.verb}
          scope={bulk.scope}
          onEnd={(isDone) => {
            setBulk(null);
            goOnInList();
            if (!isDone) return;
            setChosen(new Set());
            rows.again();
          }}
        />
      )}
      {props.tools}
      {filtered !== null && (
        <ColumnFilter
          key={filtered}
          list={list}
          field={filtered}
          filter={state.filter}
          close={() => setFiltered(null)}
        />
      )}
      {rows.problem !== undefined && filterProblem === undefined && (
        <Problem problem={rows.problem} again={rows.again} />
      )}
      {rows.count === undefined && rows.problem === undefined && <Waiting />}
      {rows.count === 0 && !rows.isEarlier && filterProblem === undefined && nothing}
      {rows.count !== undefined && rows.count > 0 && (
        <ListTable
          // A different choice of rows starts at the first row.
          key={parameter("only") ?? ""}
          list={list}
          state={state}
          rows={rows}
          count={Math.min(rows.count, ROWS_MAX)}
          chosen={chosen}
          choose={choose}
          chooseAll={chooseAll}
          filterBy={setFiltered}
          edit={kind !== null && mayWrite(kind, "update") ? (id, field) => go(hrefEditing(kind, id, field)) : null}
        />
      )}
      {rows.count !== undefined && rows.count > ROWS_MAX && (
        <p class="aside">The list ends here, at {groupedDigits(ROWS_MAX)}. Filter it to see what follows.</p>
      )}
    </Page>
  );
}

function HistoryLink({ kind, id }: { readonly kind: string; readonly id: string }) {
  const page = historyPage(kind, id);
  return (
    page !== null && (
      <a class="button" href={hrefOf(page)}>
        History
      </a>
    )
  );
}

function Nothing({ list, isFiltered }: { readonly list: AnyList; readonly isFiltered: boolean }) {
  if (!isFiltered)
    return (
      <p>
        {isPast.value ? `No ${list.many} existed at this time.` : `No ${list.many}.`} {mayAdd(list) && list.nothingYet}{" "}
        {list.startsScan && <StartLink />}
      </p>
    );
  return (
    <p>
      No {list.many} match this filter. <a href={hrefUnfiltered()}>Remove the filter</a>
    </p>
  );
}

/** An empty list suggests the next step only to users with the permission. */
function mayAdd({ kind }: AnyList): boolean {
  return isEditedKind(kind) ? mayWrite(kind, "create") : !isPast.value;
}

function isOfFilter({ issues }: Refusal): boolean {
  return issues.some(({ path }) => path === "/filter");
}

/** Restores focus after the focused element was removed. */
function goOnInList(): void {
  document.querySelector<HTMLElement>(".list")?.focus({ preventScroll: true });
}

/** Network that limits the list; null for all networks. */
function networkOf({ kind }: AnyList): string | null {
  return entryOf(kind)?.isOfOrganization === true ? null : network.value;
}

/** API URL of the list. */
function addressOf(list: AnyList, query: ListQuery, at: string | null): string {
  const parameters = new URLSearchParams({ ...query, ...(at === null ? {} : { at }) } as Record<string, string>);
  const text = parameters.toString();
  return `/api/v1/${list.path}${text === "" ? "" : `?${text}`}`;
}

/** The list page of a kind. @param around additional content, evaluated on every render */
export function listPage(kind: ListedKind, details: KindDetails, around: () => Around = () => ({})) {
  const list = listOf(kind, details);
  return () => <ListPage key={kind} list={list} {...around()} />;
}
