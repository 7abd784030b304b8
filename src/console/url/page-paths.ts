// Routes of the console's pages; the appliance serves the same document for each. Plain data, also read by the build.

import { LIST_PATHS, type ListPath, RECORD_PATHS, type RecordPath } from "../kinds/kinds.ts";

/** Pages other than those of the kinds. */
const OTHER_PATHS = [
  "/",
  "/start",
  "/hosts/:id/identity",
  "/stations",
  "/subnets",
  "/conflicts",
  "/changes",
  "/changes/:sequence",
  "/compare",
  "/map",
  "/discovery",
  "/discovery/waiting",
  "/discovery/:id",
  "/records/:kind/:id",
  "/ledger",
  "/settings",
  "/settings/organization",
  "/settings/backups",
  "/settings/retention",
  "/settings/appliance",
  "/settings/log",
  "/settings/about",
] as const;

export type PagePath = ListPath | RecordPath | (typeof OTHER_PATHS)[number];

/** `:name` matches one path segment. First match wins, so that `/subnets/list` is not taken for a subnet id. */
export const PAGE_PATHS: readonly PagePath[] = [...LIST_PATHS, ...OTHER_PATHS, ...RECORD_PATHS];
