// Service of a host and its endpoints.

import { type TObject, Type } from "@sinclair/typebox";
import { sqliteTable, text } from "drizzle-orm/sqlite-core";
import { textSortKey } from "../../base/text.ts";
import { withoutInvisible } from "../../base/visible.ts";
import { type Kind, liveColumns } from "../../db/kind.ts";
import { Name, Nullable, observedFields, recordFields, TagIds, Uuid } from "../../schemas/schemas.ts";
import { customFieldsOfResponse, namesAndValuesIn } from "../custom-fields/field-values.ts";
import { discoverableFields } from "../discovered.ts";
import { hosts } from "../hosts/host.ts";
import { requiredReference } from "../live-columns.ts";
import { networks } from "../networks/network.ts";
import type { RecordOf } from "../record.ts";
import { withoutListItem } from "../references.ts";
import { Source } from "../source.ts";
import { ServiceVirtualization, withoutService } from "../virtualization.ts";

export const SERVICE_DEFINITION_MAX_LENGTH = 100;

export const services = sqliteTable("services", {
  ...liveColumns,
  network_n: requiredReference(() => networks.n),
  host_n: requiredReference(() => hosts.n),
  name: text().notNull(),
  service_definition: text().notNull(),
});

export const serviceKind: Kind<ServiceRecord> = {
  name: "service",
  plural: "services",
  code: 12,
  table: services,
  columns: (service) => ({
    name: service.name,
    service_definition: service.service_definition,
  }),
  scopes: { network: "network_id", host: "host_id" },
  partFields: ["bindings"],
  countedWith: ["host_id"],
  references: [
    { to: "tag", field: "tags", without: withoutListItem("tags") },
    { to: "host", field: "host_id" },
    { to: "service", field: "virtualization", without: withoutService },
  ],
  links: (service) => [
    { relation: "tags", ids: service.tags },
    {
      relation: "virtualization",
      ids: service.virtualization?.details.service_id === undefined ? [] : [service.virtualization.details.service_id],
    },
  ],
  owners: (service) => [{ kind: "host", id: service.host_id, as: "services" }],
  observed: ["last_discovery_id", "last_seen_at"],
  absent: "null",
  identity: (service) => JSON.stringify([service.host_id, service.service_definition, service.name]),
  unique: { field: "name", value: (service) => service.name, seenWithin: (service) => `["${service.host_id}"` },
  indexedNames: namesAndValuesIn<ServiceRecord>({ name: "Name", service_definition: "Name" }),
  sortKeys: { name: textSortKey, service_definition: textSortKey },
};

/** Identity of a service within its host. */
export function serviceIdentity({
  service_definition,
  name,
}: Pick<ServiceRecord, "service_definition" | "name">): string {
  return withoutInvisible(JSON.stringify([service_definition, name]));
}

export const ServiceDefinition = Type.String({
  format: "name",
  minLength: 1,
  maxLength: SERVICE_DEFINITION_MAX_LENGTH,
  description: "Free text that names the kind of service.",
});

export const serviceFields = {
  id: Uuid,
  host_id: Uuid,
  network_id: Uuid,
  name: Name,
  position: Type.Integer(),
  service_definition: ServiceDefinition,
  source: Source,
  tags: TagIds,
  virtualization: Nullable(ServiceVirtualization),
  ...observedFields,
  ...discoverableFields,
  ...customFieldsOfResponse,
  ...recordFields,
};
export interface ServiceRecord extends RecordOf<TObject<typeof serviceFields>> {}
