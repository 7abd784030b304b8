// The organization as a resource, as far as it behaves like one.

import type { ResourceBase } from "../resource.ts";
import { ORGANIZATION_EXAMPLE, Organization, type OrganizationRecord, organizationKind } from "./organization.ts";

export const organizationView: ResourceBase<OrganizationRecord> = {
  kind: organizationKind,
  responseSchema: Organization,
  example: ORGANIZATION_EXAMPLE,
  names: { columns: { organization_id: "organization_name" }, fields: ["name"], example: "Example" },
};
