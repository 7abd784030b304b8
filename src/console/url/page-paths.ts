// The addresses of the console's pages, as routes: the appliance answers each with the one page that there is. Pure
// data: the build reads it as well.

import { LIST_PATHS, type ListPath, RECORD_PATHS, type RecordPath } from "../kinds/kinds.ts";

/** Pages besides the lists and pages of kinds. */
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

/** `:name` stands for one part of a path; the first that fits is meant, so that `/subnets/list` is no subnet. */
export const PAGE_PATHS: readonly PagePath[] = [...LIST_PATHS, ...OTHER_PATHS, ...RECORD_PATHS];
