// A list as its page shows it: columns with cells, made of what its kind says and of the fields that the API lists.

import type { ComponentChildren } from "preact";
import { LIST_FIELDS } from "#fields";
import { type QueryOf, type ReadPath, read } from "../api/client.ts";
import type { KindDetails } from "../kinds/details.ts";
import { apiPath, entryOf, kindTitle, kindWords, type ListedKind, listPageOf } from "../kinds/kinds.ts";
import { calledOf } from "../names/called.ts";
import { listText } from "../text/lists.ts";
import { at } from "../time/at.ts";
import { cellOf, type ListRow } from "./cells.tsx";
import { plannedColumns } from "./columns.ts";
import type { WindowRead } from "./long-list.ts";

export interface Column<Row> {
  /** The field's wire name: what is ordered and filtered by. */
  readonly key: string;
  /** In rem: columns do not move while one scrolls. */
  readonly width: number;
  readonly isNumber?: boolean;
  /** Whether the API orders by it. */
  readonly isOrdered?: boolean;
  /** Whether it says something of the row, and is no field: neither ordered nor filtered by. */
  readonly isMark?: boolean;
  /** Whether it is left out in the past, of which it says nothing. */
  readonly isOfNow?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
}

export interface ListDefinition<Row> {
  /** In the API, and in the names of views. */
  readonly kind: string;
  /** Of the list in the API, below /api/v1/. */
  readonly path: string;
  /** Of its page. */
  readonly page: string;
  readonly title: string;
  readonly one: string;
  readonly many: string;
  /** What to do where there are none. */
  readonly nothingYet: string;
  /** Whether an empty list leads to a first scan. */
  readonly startsScan: boolean;
  readonly columns: readonly Column<Row>[];
  /** Those that are shown at first. */
  readonly shown: readonly string[];
  readonly order: string;
  readonly idOf: (row: Row) => string;
  /** What the row is called, for those who hear it. */
  readonly nameOf: (row: Row) => string;
  /** Of its row in the table. */
  readonly classOf?: (row: Row) => string;
  /** What is asked besides, with these columns: some cost more. */
  readonly asksWith: (columns: readonly string[]) => Readonly<Record<string, unknown>>;
  /** @param columns that are shown */
  readonly readWith: (query: ListQuery, columns: readonly string[]) => WindowRead<Row>;
  /** A filter that shows what can be written. */
  readonly example: string;
  /** Filters that come with it. */
  readonly views: readonly { readonly name: string; readonly filter: string; readonly order?: string }[];
}

/** A definition that forgets the type of its rows: they go through it and nothing else. */
export type AnyList = ListDefinition<unknown>;

/** A list as one among others. */
export const sealed = <Row>(definition: ListDefinition<Row>): AnyList => definition as unknown as AnyList;

export interface ListQuery {
  readonly ids?: readonly string[];
  readonly network_id?: string;
  readonly filter?: string;
  readonly order_by?: string;
  readonly order_direction?: "asc" | "desc";
}

/** The list of a kind. */
export function listOf(kind: ListedKind, details: KindDetails): AnyList {
  const [one, many] = kindWords(kind);
  const asksWith = (columns: readonly string[]) => {
    const more = Object.entries(details.asks ?? {}).filter(([field]) => columns.includes(field));
    return more.length === 0 ? { ...entryOf(kind)?.alone } : Object.assign({}, ...more.map(([, asked]) => asked));
  };
  const list: ListDefinition<ListRow> = {
    kind,
    path: apiPath(kind).replace("/api/v1/", ""),
    page: listPageOf(kind),
    ...(details.listed ?? { title: kindTitle(kind), one, many }),
    nothingYet: details.nothingYet ?? (details.isFound === true ? listText.nothingYet : listText.addOne),
    startsScan: details.startsScan === true,
    columns: columnsOf(kind, details),
    shown: details.shown,
    order: details.order ?? "name",
    idOf: ({ id }) => id,
    nameOf: (row) => calledOf(kind, row),
    asksWith,
    readWith:
      (query, columns) =>
      ({ at: pinned, ...window }) => {
        // What the clock says is of now, not of the newest transaction.
        const isPinned = pinned !== undefined && (details.isOfClock !== true || at.value !== null);
        const asked = { ...query, ...window, ...asksWith(columns), ...(isPinned ? { at: pinned } : {}) };
        return read(apiPath(kind) as ReadPath, { query: asked as QueryOf<"/api/v1/hosts"> }) as ReturnType<
          WindowRead<ListRow>
        >;
      },
    example: details.example,
    views: details.views ?? [],
  };
  return sealed(list);
}

/** Fields that say nothing of the past. */
const OF_NOW: ReadonlySet<string> = new Set(["last_seen_at", "stale_since", "next_run_at"]);

function columnsOf(kind: ListedKind, details: KindDetails): Column<ListRow>[] {
  return plannedColumns(details, LIST_FIELDS[kind]).map(({ key, width, type, style, isOrdered }) => ({
    key,
    width,
    isNumber: type === "integer" || style === "count",
    isOrdered,
    // What has parts is filtered by these.
    isMark: style === "fill" || (type === "other" && style === undefined),
    isOfNow: OF_NOW.has(key),
    cell: cellOf({ kind, field: key, type, style }),
  }));
}
