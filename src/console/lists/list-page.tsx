// The page of a list: its filter, its columns and views, its rows, and the same as CSV and as curl.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useFresh } from "../api/fresh.ts";
import type { Refusal } from "../api/refusal.ts";
import { csvOf } from "../parts/curl.ts";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { listText } from "../text/lists.ts";
import { at, network } from "../time/at.ts";
import { go, hrefHere } from "../url/location.ts";
import { ColumnFilter } from "./column-filter.tsx";
import { ColumnsMenu } from "./columns-menu.tsx";
import type { AnyList, ListQuery } from "./definitions.tsx";
import { FilterField } from "./filter-field.tsx";
import { listState, queryOf, quoted } from "./list-state.ts";
import { hrefUnfiltered, ListTable } from "./list-table.tsx";
import { useLongList } from "./long-list.ts";
import { ViewsMenu } from "./views-menu.tsx";

/** Beyond that a list is not scrolled but filtered. */
const ROWS_MAX = 100_000;

interface ListPageProps {
  readonly list: AnyList;
  /** Between its name and its filter. */
  readonly above?: ComponentChildren;
}

export function ListPage({ list, above }: ListPageProps) {
  const state = listState(list);
  const query = queryOf(list, state, network.value);
  const keys = state.columns.map(({ key }) => key);
  const windowOf = list.readWith(query, keys);
  const needsAddresses = keys.includes("ip_addresses");
  const rows = useLongList(`${list.path} ${JSON.stringify(query)} ${needsAddresses}`, at.value, windowOf);
  useFresh({
    live: at.value === null ? { how: "offer", types: [list.kind], network_id: network.value } : null,
    name: `${list.path} ${rows.at}`,
    sinceMs: rows.at === null ? undefined : Date.parse(rows.at),
    again: rows.again,
  });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [filtered, setFiltered] = useState<string | null>(null);
  const choose = (id: string) =>
    setChosen((last) => (last.has(id) ? new Set([...last].filter((each) => each !== id)) : new Set(last).add(id)));
  const filterProblem = rows.problem !== undefined && isOfFilter(rows.problem) ? rows.problem : undefined;
  const address = addressOf(list, query, at.value);
  return (
    <Page title={list.title} reads={[`${address}${address.includes("?") ? "&" : "?"}limit=0`]} csv={csvOf(address)}>
      {above}
      <div class="list-tools">
        <FilterField kind={list.kind} filter={state.filter} example={list.example} problem={filterProblem} />
        <ViewsMenu list={list} />
        <ColumnsMenu list={list} shown={keys} />
        <p class="aside list-count" role="status">
          {rows.count !== undefined && !rows.isEarlier && listText.count(rows.count, list.one, list.many)}
        </p>
        {chosen.size > 0 && (
          <p class="list-chosen">
            {listText.selected(chosen.size)}{" "}
            <button
              type="button"
              onClick={() => go(hrefHere({ filter: [...chosen].map((id) => `id = ${quoted(id)}`).join(" OR ") }))}
            >
              {listText.onlySelected}
            </button>
            <button type="button" onClick={() => setChosen(new Set())}>
              {listText.clear}
            </button>
          </p>
        )}
      </div>
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
      {rows.count === 0 && !rows.isEarlier && filterProblem === undefined && (
        <Nothing list={list} isFiltered={state.filter !== ""} />
      )}
      {rows.count !== undefined && rows.count > 0 && (
        <ListTable
          list={list}
          state={state}
          rows={rows}
          count={Math.min(rows.count, ROWS_MAX)}
          chosen={chosen}
          choose={choose}
          filterBy={setFiltered}
        />
      )}
      {rows.count !== undefined && rows.count > ROWS_MAX && <p class="aside">{listText.tooMany(ROWS_MAX)}</p>}
    </Page>
  );
}

function Nothing({ list, isFiltered }: { readonly list: AnyList; readonly isFiltered: boolean }) {
  if (!isFiltered)
    return (
      <p>
        {listText.nothing(list.many)} {list.nothingYet ?? listText.nothingYet}
      </p>
    );
  return (
    <p>
      {listText.nothingFiltered(list.many)} <a href={hrefUnfiltered()}>{listText.removeFilter}</a>
    </p>
  );
}

function isOfFilter({ issues }: Refusal): boolean {
  return issues.some(({ path }) => path === "/filter");
}

/** Where the API has this list. */
function addressOf(list: AnyList, query: ListQuery, at: string | null): string {
  const parameters = new URLSearchParams({ ...query, ...(at === null ? {} : { at }) });
  const text = parameters.toString();
  return `/api/v1/${list.path}${text === "" ? "" : `?${text}`}`;
}
