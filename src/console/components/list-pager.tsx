// Pager for a list response, at the offset in the URL.

import { pageOffset } from "../url/location.ts";
import { Pager } from "./pager.tsx";

interface ListPagerProps {
  /** Rows per page. */
  readonly rows: number;
  /** Undefined until loaded. */
  readonly meta: { readonly pagination: { readonly has_more: boolean; readonly total_count: number } } | undefined;
  /** Whether to show the total number of rows. */
  readonly hasTotal?: boolean;
  readonly newer?: string;
  readonly older?: string;
}

export function ListPager({ rows, meta, hasTotal = true, newer = "Previous", older = "Next" }: ListPagerProps) {
  const hasMore = meta?.pagination.has_more === true;
  const total = hasTotal ? meta?.pagination.total_count : undefined;
  return <Pager {...{ rows, hasMore, total, newer, older }} offset={pageOffset.value} />;
}
