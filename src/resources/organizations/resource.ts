// The organization as a resource, as far as it behaves like one.

import type { Shown } from "../resource.ts";
import { ORGANIZATION_EXAMPLE, Organization, type OrganizationRecord, organizationKind } from "./organization.ts";

export const organizationShown: Shown<OrganizationRecord> = {
  kind: organizationKind,
  answer: Organization,
  example: ORGANIZATION_EXAMPLE,
  names: { columns: { organization_id: "organization_name" }, fields: ["name"], example: "Example" },
};
