// Organization: owner of all data. No organization sees another's data.

import { type Static, Type } from "@sinclair/typebox";
import { sqliteTable } from "drizzle-orm/sqlite-core";
import { DomainError } from "../../base/errors.ts";
import { textSortKey } from "../../base/text.ts";
import { type Kind, liveColumns } from "../../db/kind.ts";
import { Body, Name, RECORD_READ_ONLY, recordFields, Uuid } from "../../schemas/schemas.ts";
import { RECORD_EXAMPLE, type RecordOf } from "../record.ts";

export const organizations = sqliteTable("organizations", liveColumns);

export const organizationKind: Kind<OrganizationRecord> = {
  name: "organization",
  plural: "organizations",
  code: 1,
  table: organizations,
  scopes: {},
  observed: [],
  absent: "null",
  identity: () => null,
  unique: null,
  sortKeys: { name: textSortKey },
};

export const Organization = Type.Object(
  {
    id: Uuid,
    name: Name,
    require_change_reason: Type.Boolean({
      description: "Whether changes by users and API keys require a reason, in `X-Change-Reason`.",
    }),
    ...recordFields,
  },
  { $id: "Organization" },
);
export interface OrganizationRecord extends RecordOf<typeof Organization> {}
export const OrganizationUpdate = Body(
  {
    id: Type.Optional(Uuid),
    name: Name,
    require_change_reason: Type.Optional(
      Type.Boolean({
        description:
          "Whether changes by users and API keys require a reason, in `X-Change-Reason`: without one they are refused, and nothing is written. Scans, the appliance itself and a change of your own password need none.",
      }),
    ),
  },
  { ignored: RECORD_READ_ONLY },
);
export type OrganizationUpdate = Static<typeof OrganizationUpdate>;

/** 409: the appliance already has its first organization; the executable creates additional ones. */
export function alreadySetUp(): DomainError {
  return new DomainError("entity_already_exists", "The appliance is already set up; sign in at /api/auth/login.", {
    entity: "organization",
    field: "id",
    value: null,
  });
}

export const ORGANIZATION_EXAMPLE: Static<typeof Organization> = {
  id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0001",
  name: "Example Networks",
  require_change_reason: false,
  ...RECORD_EXAMPLE,
};
