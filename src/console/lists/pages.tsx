// The pages of lists: one for each.

import { LISTS } from "./definitions.tsx";
import { ListPage } from "./list-page.tsx";

/** @param page its path */
export function listPage(page: keyof typeof LISTS) {
  return () => <ListPage key={page} list={LISTS[page]} />;
}
