// List page: filter, columns, views and rows, with the same data as CSV and as a curl command.

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { includesObserved } from "../api/diff.ts";
import { quoted } from "../api/filter-text.ts";
import { useFresh } from "../api/fresh.ts";
import { BulkButtons, BulkPanel, type BulkVerb } from "../bulk/bulk-panel.tsx";
import type { BulkScope } from "../bulk/scope.ts";
import { TableButton, TableImportSlot } from "../bulk/table-import-slot.tsx";
import { ActionButton, LinkButton } from "../components/buttons.tsx";
import { csvOf } from "../components/curl.ts";
import { Page } from "../components/page.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { EditSlot, hrefDeleting, hrefEditing, mayWrite, NewButton } from "../editing/edit-slot.tsx";
import { totalOf } from "../history/change-counts.ts";
import type { KindDetails } from "../kinds/details.ts";
import { type EditedKind, entryOf, isEditedKind, type ListedKind, operationOn } from "../kinds/kinds.ts";
import { historyPage } from "../names/record-page.ts";
import { mayScanRecords, ScanRecords } from "../scanning/scan-offer.tsx";
import { StartLink } from "../scanning/start-link.tsx";
import { may } from "../session/me.ts";
import { comparisonText } from "../text/compare.ts";
import { counted, groupedDigits } from "../text/digits.ts";
import { editText } from "../text/editing.ts";
import { at, isPast, network, vs } from "../time/at.ts";
import { type ComparedEnds, compared } from "../time/compared.ts";
import { go, hrefHere, hrefOf, parameter } from "../url/location.ts";
import { ColumnFilter } from "./column-filter.tsx";
import { ColumnsMenu } from "./columns-menu.tsx";
import { ComparedReads, countsOfMeta, FULL_DIFF_MAX } from "./compared-reads.ts";
import { comparedList, comparedState } from "./compared-rows.tsx";
import { ComparisonBar, comparisonFilter } from "./comparison-bar.tsx";
import { withCustomColumns } from "./custom-columns.tsx";
import { FilterField } from "./filter-field.tsx";
import { isFilterProblem, NoMatches } from "./filter-tools.tsx";
import { type AnyList, type ListQuery, listOf } from "./list.ts";
import { type ListState, listState, queryOf } from "./list-state.ts";
import { ListTable } from "./list-table.tsx";
import { type LongList, useLongList } from "./long-list.ts";
import { ViewsMenu } from "./views-menu.tsx";

/** Maximum number of rows to scroll through; longer lists must be filtered. */
const ROWS_MAX = 100_000;

/** Action on the selected rows. */
interface SelectedAction {
  readonly label: string;
  /** Whether the user may perform the action, in the present. */
  readonly isPermitted: boolean;
  /** @param end cancels or closes the action @param done called after a successful write */
  show(ids: readonly string[], end: () => void, done: () => void): ComponentChildren;
}

/** Additional content of a list page. */
export interface ListExtras {
  readonly selected?: SelectedAction;
  /** Content between title and filter. */
  readonly above?: ComponentChildren;
}

type ListPageProps = ListExtras & { readonly list: AnyList };

export function ListPage(props: ListPageProps) {
  const ends = compared.value;
  const list = withCustomColumns(props.list);
  return ends === null ? <PlainList {...props} list={list} /> : <ComparedList {...props} list={list} ends={ends} />;
}

function PlainList(props: ListPageProps) {
  const { list } = props;
  const state = listState(list);
  const query = queryOf(list, state, networkIdOf(list));
  const keys = state.columns.map(({ key }) => key);
  const name = `${list.path} ${JSON.stringify([query, list.columnQuery(keys)])}`;
  const rows = useLongList(name, at.value, list.windowReader(query, keys));
  const url = listUrl(list, query, at.value);
  return (
    <ListFrame
      {...props}
      state={state}
      rows={rows}
      isPresent={at.value === null}
      read={`${url}${url.includes("?") ? "&" : "?"}limit=0`}
      csv={csvOf(url)}
      emptyContent={<EmptyList list={list} isFiltered={state.filter !== ""} />}
    />
  );
}

/** List compared between two timestamps, with removed rows above those of the later one. */
function ComparedList({ list, above, ends }: ListPageProps & { readonly ends: ComparedEnds }) {
  const state = listState(list);
  const query = queryOf(list, state, networkIdOf(list));
  const keys = state.columns.map(({ key }) => key);
  const only = comparisonFilter();
  const [revision, setRevision] = useState(0);
  const name = `${list.path} ${JSON.stringify([query, keys, only, ends.from, includesObserved()])} ${revision}`;
  const reads = useMemo(() => new ComparedReads({ list, query, keys, ends, only }), [name, ends.to]);
  const rows = useLongList(name, ends.to, reads.windowOf);
  const counts = countsOfMeta(rows.meta);
  const total = counts && totalOf(counts);
  const tooMany = (total ?? 0) > FULL_DIFF_MAX && `More than ${groupedDigits(FULL_DIFF_MAX)} differences`;
  const { url } = reads.shownDiff(ends.to ?? undefined);
  return (
    <ListFrame
      list={comparedList(list)}
      above={above}
      state={comparedState(state, ends)}
      rows={{ ...rows, retry: () => setRevision((last) => last + 1) } as LongList<unknown>}
      isPresent={ends.to === null}
      read={url}
      csv={`${url}&format=csv`}
      tools={
        <>
          <ComparisonBar counts={rows.isEarlier ? undefined : counts} />
          {total === 0 && !rows.isEarlier && <p role="status">{comparisonText.nothingHere}</p>}
          {tooMany && only !== null && (
            <p class="aside">
              {tooMany}, sorted by type of change and creation. Filter the list to sort them by column.
            </p>
          )}
          {tooMany && only === null && (counts?.removed ?? 0) > 1 && (
            <p class="aside">{tooMany}: removed rows are sorted by creation. Filter the list to sort them by column.</p>
          )}
        </>
      }
      emptyContent={only === null ? <EmptyList list={list} isFiltered={state.filter !== ""} /> : null}
    />
  );
}

interface ListFrameProps extends ListPageProps {
  readonly state: ListState;
  readonly rows: LongList<unknown>;
  readonly isPresent: boolean;
  /** API URL of the rows shown, and its CSV version. */
  readonly read: string;
  readonly csv: string | null;
  readonly tools?: ComponentChildren;
  /** Content for an empty list. */
  readonly emptyContent: ComponentChildren;
}

function ListFrame(props: ListFrameProps) {
  const { list, above, selected, state, rows, emptyContent } = props;
  useFresh({
    live: props.isPresent ? { how: "offer", types: [list.kind], network_id: networkIdOf(list) } : null,
    name: `${list.path} ${rows.at}`,
    sinceMs: rows.at === null ? undefined : Date.parse(rows.at),
    retry: rows.retry,
  });
  const [selectedIds, setSelectedIds] = useState<ReadonlySet<string>>(new Set());
  const [filteredColumn, setFilteredColumn] = useState<string | null>(null);
  const [actionIds, setActionIds] = useState<readonly string[] | null>(null);
  const toggle = (id: string) => setSelectedIds((last) => last.symmetricDifference(new Set([id])));
  const selectNone = () => {
    setSelectedIds(new Set());
    focusList();
  };
  const selectAll = (ids: readonly string[]) => setSelectedIds((last) => last.union(new Set(ids)));
  const finish = () => {
    setSelectedIds(new Set());
    rows.retry();
  };
  const kind = isEditedKind(list.kind) ? list.kind : null;
  const [bulk, setBulk] = useState<{ readonly verb: BulkVerb; readonly scope: BulkScope } | null>(null);
  const scopeOf = (ids: readonly string[] | null): BulkScope => ({
    kind: kind as EditedKind,
    ids,
    filter: state.filter,
    networkId: networkIdOf(list),
    count: ids?.length ?? rows.count ?? 0,
  });
  const bulkOf = (ids: readonly string[] | null) => (verb: BulkVerb) => setBulk({ verb, scope: scopeOf(ids) });
  // An action ends if the list shows the past or a comparison; a bulk action on a filter, if filter or network change.
  const isBulkStale =
    bulk !== null &&
    (isPast.value ||
      vs.value !== null ||
      (bulk.scope.ids === null && (bulk.scope.filter !== state.filter || bulk.scope.networkId !== networkIdOf(list))));
  const isActionOffered = selected?.isPermitted === true && !isPast.value && vs.value === null;
  useEffect(() => {
    if (isBulkStale) setBulk(null);
    if (!isActionOffered) setActionIds(null);
  }, [isBulkStale, isActionOffered]);
  const offersFilterActions = props.isPresent && state.filter !== "" && !rows.isEarlier && (rows.count ?? 0) > 1;
  // Regardless of the time shown, or columns would move.
  const isSelectable =
    (kind !== null && mayChange(kind)) || mayScanRecords(list.kind) || selected?.isPermitted === true;
  const filterProblem = isFilterProblem(rows.problem) ? rows.problem : undefined;
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
      {kind !== null && <EditSlot presets={{ network_id: networkIdOf(list) }} onSaved={rows.retry} />}
      {kind !== null && <TableImportSlot key={kind} kind={kind} onSaved={rows.retry} />}
      <div class="list-tools">
        <FilterField kind={list.kind} filter={state.filter} example={list.example} problem={filterProblem} />
        <ViewsMenu list={list} />
        <ColumnsMenu list={list} shown={state.columns.map(({ key }) => key)} />
        {isSelectable && selectedIds.size > 0 && (
          <p class="list-chosen">
            {selectedIds.size} selected{" "}
            <ActionButton
              label="Show only the selected"
              onClick={() => go(hrefHere({ filter: [...selectedIds].map((id) => `id = ${quoted(id)}`).join(" OR ") }))}
            />
            {kind !== null && selectedIds.size === 1 && mayWrite(kind, "update") && (
              <ActionButton label={editText.edit} onClick={() => go(hrefEditing(kind, [...selectedIds][0] ?? ""))} />
            )}
            {kind !== null && selectedIds.size === 1 && mayWrite(kind, "delete") && (
              <ActionButton label={editText.delete} onClick={() => go(hrefDeleting(kind, [...selectedIds][0] ?? ""))} />
            )}
            {selectedIds.size === 1 && <HistoryLink kind={list.kind} id={[...selectedIds][0] ?? ""} />}
            {kind !== null && selectedIds.size > 1 && bulk === null && (
              <BulkButtons scope={scopeOf([...selectedIds])} onChoose={bulkOf([...selectedIds])} />
            )}
            <ActionButton label="Select none" onClick={selectNone} />
            <ScanRecords kind={list.kind} ids={[...selectedIds]} />
            {isActionOffered && actionIds === null && (
              <ActionButton label={selected.label} onClick={() => setActionIds([...selectedIds])} />
            )}
          </p>
        )}
        {kind !== null && bulk === null && selectedIds.size === 0 && offersFilterActions && (
          <p class="list-chosen">
            {`All ${groupedDigits(rows.count ?? 0)} matching ${rows.count === 1 ? list.one : list.many}`}{" "}
            <BulkButtons scope={scopeOf(null)} onChoose={bulkOf(null)} />
          </p>
        )}
      </div>
      {actionIds !== null && isActionOffered && selected.show(actionIds, () => setActionIds(null), finish)}
      {bulk !== null && !isBulkStale && (
        <BulkPanel
          key={bulk.verb}
          verb={bulk.verb}
          scope={bulk.scope}
          onEnd={(isDone) => {
            setBulk(null);
            focusList();
            if (isDone) finish();
          }}
        />
      )}
      {props.tools}
      {filteredColumn !== null && (
        <ColumnFilter
          key={filteredColumn}
          list={list}
          field={filteredColumn}
          filter={state.filter}
          close={() => setFilteredColumn(null)}
        />
      )}
      {filterProblem === undefined && <ResponseState data={rows.count} problem={rows.problem} retry={rows.retry} />}
      {rows.count === 0 && !rows.isEarlier && filterProblem === undefined && emptyContent}
      {rows.count !== undefined && rows.count > 0 && (
        <ListTable
          // Another choice of rows starts at the first row.
          key={parameter("only") ?? ""}
          list={list}
          state={state}
          rows={rows}
          count={Math.min(rows.count, ROWS_MAX)}
          isSelectable={isSelectable}
          selectedIds={selectedIds}
          toggle={toggle}
          selectAll={selectAll}
          filterBy={setFilteredColumn}
          edit={kind !== null && mayWrite(kind, "update") ? (id, field) => go(hrefEditing(kind, id, field)) : null}
        />
      )}
      {rows.count !== undefined && rows.count > ROWS_MAX && (
        <p class="aside">Showing the first {groupedDigits(ROWS_MAX)} rows. Filter to see others.</p>
      )}
    </Page>
  );
}

/** Whether the user may edit or delete records of a kind in the present. */
function mayChange(kind: EditedKind): boolean {
  return may(operationOn("update", kind)) || may(operationOn("delete", kind));
}

function HistoryLink({ kind, id }: { readonly kind: string; readonly id: string }) {
  const page = historyPage(kind, id);
  return page !== null && <LinkButton href={hrefOf(page)} label="History" />;
}

function EmptyList({ list, isFiltered }: { readonly list: AnyList; readonly isFiltered: boolean }) {
  if (isFiltered) return <NoMatches kinds={list.many} />;
  return (
    <p>
      {isPast.value ? `No ${list.many} existed at this time.` : `No ${list.many}.`} {mayAdd(list) && list.emptyHint}{" "}
      {list.offersScan && <StartLink />}
    </p>
  );
}

/** Whether an empty list suggests the next step, which requires the permission. */
function mayAdd({ kind }: AnyList): boolean {
  return isEditedKind(kind) ? mayWrite(kind, "create") : !isPast.value;
}

/** Moves the focus to the list after the focused element was removed. */
function focusList(): void {
  document.querySelector<HTMLElement>(".list")?.focus({ preventScroll: true });
}

/** Network that limits the list; null for all networks. */
function networkIdOf({ kind }: AnyList): string | null {
  return entryOf(kind)?.isOrganizationWide === true ? null : network.value;
}

/** API URL of the list. */
function listUrl(list: AnyList, query: ListQuery, at: string | null): string {
  const parameters = new URLSearchParams({ ...query, ...(at === null ? {} : { at }) } as Record<string, string>);
  const text = parameters.toString();
  return `/api/v1/${list.path}${text === "" ? "" : `?${text}`}`;
}

/** Component of a kind's list page. @param extras additional content, evaluated on every render */
export function listPage(kind: ListedKind, details: KindDetails, extras: () => ListExtras = () => ({})) {
  const list = listOf(kind, details);
  return () => <ListPage key={kind} list={list} {...extras()} />;
}
