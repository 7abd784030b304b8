// The pages of lists: one for each kind that has one.

import type { KindDetails } from "../kinds/details.ts";
import type { ListedKind } from "../kinds/kinds.ts";
import { listOf } from "./list.ts";
import { type Around, ListPage } from "./list-page.tsx";

/** @param around what the page shows besides, read whenever it is drawn */
export function listPage(kind: ListedKind, details: KindDetails, around: () => Around = () => ({})) {
  const list = listOf(kind, details);
  return () => <ListPage key={kind} list={list} {...around()} />;
}
