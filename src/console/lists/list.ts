// List definitions: columns with cells, from the details of a kind and the fields that the API lists.

import type { ComponentChildren } from "preact";
import { LIST_FIELDS } from "#fields";
import { type QueryOf, type ReadPath, read } from "../api/client.ts";
import type { KindDetails } from "../kinds/details.ts";
import { apiPath, entryOf, kindTitle, kindWords, type ListedKind, listPageOf } from "../kinds/kinds.ts";
import { displayName } from "../names/display-name.ts";
import { at } from "../time/at.ts";
import { cellOf, type ListRow } from "./cells.tsx";
import { plannedColumns } from "./columns.ts";
import type { WindowRead } from "./long-list.ts";

export interface Column<Row> {
  /** API name of the field, for sorting and filtering. */
  readonly key: string;
  /** Width in rem; fixed, so that columns do not move while scrolling. */
  readonly width: number;
  readonly isNumber?: boolean;
  /** Whether the API can sort by the field. */
  readonly isOrdered?: boolean;
  /** Whether the column cannot be filtered, because it is not a plain field. */
  readonly isComputed?: boolean;
  /** Whether the field has no past values; the column is then hidden in the past. */
  readonly isPresentOnly?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
}

export interface ListDefinition<Row> {
  /** API name of the kind, which is also part of the names of saved views. */
  readonly kind: string;
  /** API path below /api/v1/. */
  readonly path: string;
  /** Path of the list page. */
  readonly page: string;
  readonly title: string;
  readonly one: string;
  readonly many: string;
  /** Hint shown if the list is empty. */
  readonly emptyHint: string;
  /** Whether an empty list suggests a first scan. */
  readonly offersScan: boolean;
  readonly columns: readonly Column<Row>[];
  /** Default columns. */
  readonly shown: readonly string[];
  readonly order: string;
  readonly idOf: (row: Row) => string;
  /** Row name for screen readers. */
  readonly nameOf: (row: Row) => string;
  /** CSS class of the row. */
  readonly classOf?: (row: Row) => string;
  /** Additional query parameters for columns that are expensive to read. */
  readonly columnQuery: (columns: readonly string[]) => Readonly<Record<string, unknown>>;
  /** @param columns keys of the columns shown */
  readonly windowReader: (query: ListQuery, columns: readonly string[]) => WindowRead<Row>;
  /** Example filter. */
  readonly example: string;
  /** Built-in views. */
  readonly views: readonly { readonly name: string; readonly filter: string; readonly order?: string }[];
}

/** List definition with an erased row type, since only the definition itself reads its rows. */
export type AnyList = ListDefinition<unknown>;

/** Erases the row type of a list. */
export const eraseRowType = <Row>(definition: ListDefinition<Row>): AnyList => definition as unknown as AnyList;

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
  const columnQuery = (columns: readonly string[]) => {
    const extraQueries = Object.entries(details.columnQueries ?? {}).filter(([field]) => columns.includes(field));
    return extraQueries.length === 0
      ? { ...entryOf(kind)?.withoutParts }
      : Object.assign({}, ...extraQueries.map(([, parameters]) => parameters));
  };
  const list: ListDefinition<ListRow> = {
    kind,
    path: apiPath(kind).replace("/api/v1/", ""),
    page: listPageOf(kind),
    ...(details.listNames ?? { title: kindTitle(kind), one, many }),
    emptyHint: details.emptyHint ?? `${details.isDiscovered ? "Discovery adds them, or you" : "You"} can create one.`,
    offersScan: details.offersScan === true,
    columns: columnsOf(kind, details),
    shown: details.shown,
    order: details.order ?? "name",
    idOf: ({ id }) => id,
    nameOf: (row) => displayName(kind, row),
    columnQuery,
    windowReader:
      (query, columns) =>
      ({ at: pinnedAt, ...window }) => {
        // Values that depend on the clock must be current, not those at the newest transaction.
        const isPinned = pinnedAt !== undefined && (details.dependsOnNow !== true || at.value !== null);
        const parameters = { ...query, ...window, ...columnQuery(columns), ...(isPinned ? { at: pinnedAt } : {}) };
        return read(apiPath(kind) as ReadPath, { query: parameters as QueryOf<"/api/v1/hosts"> }) as ReturnType<
          WindowRead<ListRow>
        >;
      },
    example: details.example,
    views: details.views ?? [],
  };
  return eraseRowType(list);
}

/** Fields without past values. */
const PRESENT_ONLY: ReadonlySet<string> = new Set(["last_seen_at", "stale_since", "next_run_at"]);

function columnsOf(kind: ListedKind, details: KindDetails): Column<ListRow>[] {
  return plannedColumns(details, LIST_FIELDS[kind]).map((column) => ({
    key: column.key,
    width: column.width,
    isNumber: column.type === "integer" || column.style === "count",
    isOrdered: column.isOrdered,
    // Composite values can be filtered only by their parts.
    isComputed: column.style === "fill" || (column.type === "other" && column.style === undefined),
    isPresentOnly: PRESENT_ONLY.has(column.key),
    cell: cellOf(kind, column),
  }));
}
