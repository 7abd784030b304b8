// List pages, one for each kind with a list.

import type { KindDetails } from "../kinds/details.ts";
import type { ListedKind } from "../kinds/kinds.ts";
import { listOf } from "./list.ts";
import { type Around, ListPage } from "./list-page.tsx";

/** @param around additional content, evaluated on every render */
export function listPage(kind: ListedKind, details: KindDetails, around: () => Around = () => ({})) {
  const list = listOf(kind, details);
  return () => <ListPage key={kind} list={list} {...around()} />;
}
