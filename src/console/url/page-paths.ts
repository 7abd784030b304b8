// Routes of the console's pages, for all of which the appliance serves the same document. Also read by the build.

import { LIST_PATHS, type ListPath, RECORD_PATHS, type RecordPath } from "../kinds/kinds.ts";
import { wordList } from "../kinds/word-list.ts";

/** Routes other than those of the kinds. */
const OTHER_PATHS = wordList(
  "/ /start /hosts/:id/identity /stations /subnets /conflicts /changes /changes/:sequence /compare /map /discovery",
  "/discovery/waiting /discovery/:id /records/:kind/:id /ledger /settings /settings/organization /settings/backups",
  "/settings/retention /settings/appliance /settings/log /settings/about",
);

export type PagePath = ListPath | RecordPath | (typeof OTHER_PATHS)[number];

/** `:name` matches one path segment. The first match wins, so that `list` in `/subnets/list` is not taken for an id. */
export const PAGE_PATHS: readonly PagePath[] = [...LIST_PATHS, ...OTHER_PATHS, ...RECORD_PATHS];
