// List state in the URL: filter, order and columns. Pure, except for functions that read the URL.

import { isPast } from "../time/at.ts";
import { hrefHere, parameter } from "../url/location.ts";
import type { AnyList, Column, ListQuery } from "./list.ts";

export interface ListState {
  readonly filter: string;
  /** API name of a field, with the prefix `-` for descending order. */
  readonly order: string;
  readonly columns: readonly Column<unknown>[];
}

export function listState(list: AnyList): ListState {
  const columnsOf = (keys: readonly string[]) =>
    keys.flatMap((key) => list.columns.find((column) => column.key === key) ?? []);
  const fromUrl = columnsOf(parameter("columns")?.split(",") ?? []);
  // Default columns also replace those of a URL with only unknown columns, e.g. after an upgrade.
  const columns = fromUrl.length > 0 ? fromUrl : columnsOf(list.shown);
  return {
    filter: parameter("filter") ?? "",
    order: parameter("order") ?? list.order,
    columns: columns.filter(({ isPresentOnly }) => isPresentOnly !== true || !isPast.value),
  };
}

/** Query parameters for the API request. */
export function queryOf(list: AnyList, { filter, order }: ListState, networkId: string | null): ListQuery {
  const key = order.replace(/^-/, "");
  const isOrdered = list.columns.some((column) => column.key === key && column.isOrdered === true);
  const direction: "asc" | "desc" = order.startsWith("-") ? "desc" : "asc";
  return {
    ...(networkId === null ? {} : { network_id: networkId }),
    ...(filter === "" ? {} : { filter }),
    ...(isOrdered ? { order_by: key, order_direction: direction } : {}),
  };
}

/** URL of this list sorted by a field; reverses the direction if already sorted by it. */
export function hrefOrdered(list: AnyList, { order }: ListState, key: string): string {
  const next = order === key ? `-${key}` : key;
  return hrefHere({ order: next === list.order ? null : next });
}

/** URL of this list with these columns. */
export function hrefWithColumns(list: AnyList, keys: readonly string[]): string {
  const text = keys.join(",");
  return hrefHere({ columns: text === list.shown.join(",") ? null : text });
}
