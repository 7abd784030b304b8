// The addresses of the console's pages, as routes: the appliance answers each with the one page that there is. Pure
// data: the build reads it as well.

/** `:name` stands for one part of a path. */
export const PAGE_PATHS = [
  "/",
  "/hosts",
  "/hosts/:id",
  "/hosts/:id/identity",
  "/interfaces",
  "/interfaces/:id",
  "/addresses",
  "/services",
  "/ports",
  "/stations",
  "/subnets",
  "/subnets/list",
  "/subnets/ranges",
  "/subnets/:id",
  "/vlans",
  "/vlans/:id",
  "/conflicts",
  "/changes",
  "/changes/:sequence",
  "/compare",
  "/map",
  "/discovery",
  "/discovery/schedules",
  "/discovery/schedules/:id",
  "/discovery/ignored",
  "/discovery/:id",
  "/ledger",
  "/settings",
  "/settings/people",
  "/settings/keys",
  "/settings/networks",
  "/settings/tags",
  "/settings/custom-fields",
  "/settings/markers",
  "/settings/backups",
  "/settings/retention",
] as const;

export type PagePath = (typeof PAGE_PATHS)[number];
