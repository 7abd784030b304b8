// Sample records of the demo for console pages with a parameter in their path.

import type { PagePath } from "../../../src/console/url/page-paths.ts";

/** Source of a path's parameter: the first record of an API list, and its field. */
export const PAGE_SAMPLES: Partial<Record<PagePath, readonly [list: string, field: string]>> = {
  "/hosts/:id": ['hosts?filter=name = "acc-admin-1"', "id"],
  "/hosts/:id/identity": ['hosts?filter=name = "acc-admin-1"', "id"],
  "/interfaces/:id": ['if-entries?filter=host.name = "acc-admin-1"', "id"],
  "/subnets/:id": ["subnets?order_by=cidr", "id"],
  "/vlans/:id": ["vlans?order_by=number", "id"],
  "/changes/:sequence": ["transactions?order_direction=asc", "sequence"],
  "/discovery/schedules/:id": ["discovery/schedules?order_by=name", "id"],
  "/records/:kind/:id": ["tags?order_by=name", "id"],
  "/settings/credentials/:id": ["credentials?order_by=name", "id"],
  "/discovery/:id": ["discovery/scans?order_direction=asc", "id"],
};
