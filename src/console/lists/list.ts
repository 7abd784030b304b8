// List definition: columns with cells, from the details of a kind and the fields that the API lists.

import type { ComponentChildren } from "preact";
import { LIST_FIELDS } from "#fields";
import { type QueryOf, type ReadPath, read } from "../api/client.ts";
import type { KindDetails } from "../kinds/details.ts";
import { apiPath, entryOf, kindTitle, kindWords, type ListedKind, listPageOf } from "../kinds/kinds.ts";
import { calledOf } from "../names/called.ts";
import { at } from "../time/at.ts";
import { cellOf, type ListRow } from "./cells.tsx";
import { plannedColumns } from "./columns.ts";
import type { WindowRead } from "./long-list.ts";

export interface Column<Row> {
  /** Wire name of the field, for sorting and filtering. */
  readonly key: string;
  /** In rem; fixed, so that columns do not move while scrolling. */
  readonly width: number;
  readonly isNumber?: boolean;
  /** Whether the API can sort by the field. */
  readonly isOrdered?: boolean;
  /** Whether the column is not a field; it can be neither sorted nor filtered. */
  readonly isMark?: boolean;
  /** Whether the field has no value in the past, where the column is hidden. */
  readonly isOfNow?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
}

export interface ListDefinition<Row> {
  /** Kind in the API and in the names of views. */
  readonly kind: string;
  /** API path below /api/v1/. */
  readonly path: string;
  /** Path of the page. */
  readonly page: string;
  readonly title: string;
  readonly one: string;
  readonly many: string;
  /** Advice for an empty inventory. */
  readonly nothingYet: string;
  /** Whether an empty list suggests a first scan. */
  readonly startsScan: boolean;
  readonly columns: readonly Column<Row>[];
  /** Default columns. */
  readonly shown: readonly string[];
  readonly order: string;
  readonly idOf: (row: Row) => string;
  /** Row name for screen readers. */
  readonly nameOf: (row: Row) => string;
  /** CSS class of the row. */
  readonly classOf?: (row: Row) => string;
  /** Additional query parameters for these columns; some make the request more expensive. */
  readonly asksWith: (columns: readonly string[]) => Readonly<Record<string, unknown>>;
  /** @param columns shown */
  readonly readWith: (query: ListQuery, columns: readonly string[]) => WindowRead<Row>;
  /** Example of a filter. */
  readonly example: string;
  /** Built-in views. */
  readonly views: readonly { readonly name: string; readonly filter: string; readonly order?: string }[];
}

/** Definition with an erased row type; no other code reads the rows. */
export type AnyList = ListDefinition<unknown>;

/** Erases the row type of a list. */
export const sealed = <Row>(definition: ListDefinition<Row>): AnyList => definition as unknown as AnyList;

export interface ListQuery {
  readonly ids?: readonly string[];
  readonly network_id?: string;
  readonly filter?: string;
  readonly order_by?: string;
  readonly order_direction?: "asc" | "desc";
}

/** List definition of a kind. */
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
    nothingYet:
      details.nothingYet ??
      (details.isFound === true ? "Discovery finds them, or you add one." : "You can create one."),
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
        // Values that depend on the clock apply to now, not to the newest transaction.
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

/** Fields without a value in the past. */
const OF_NOW: ReadonlySet<string> = new Set(["last_seen_at", "stale_since", "next_run_at"]);

function columnsOf(kind: ListedKind, details: KindDetails): Column<ListRow>[] {
  return plannedColumns(details, LIST_FIELDS[kind]).map(({ key, width, type, style, isOrdered }) => ({
    key,
    width,
    isNumber: type === "integer" || style === "count",
    isOrdered,
    // Composite values are filtered by their parts.
    isMark: style === "fill" || (type === "other" && style === undefined),
    isOfNow: OF_NOW.has(key),
    cell: cellOf({ kind, field: key, type, style }),
  }));
}
