// A service of a host, and where it listens.

import { Type, type Static } from "@sinclair/typebox";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { textSortKey } from "../../base/text.ts";
import { liveColumns, type Kind, type RecordBase } from "../../db/kind.ts";
import { Name, Nullable, observedFields, recordFields, TagIds, Uuid } from "../../http/schemas.ts";
import { discoverableFields, type Discoverable } from "../discovered.ts";
import { hosts } from "../hosts/host.ts";
import { networks } from "../networks/network.ts";
import { Source, type SourceRecord } from "../source.ts";
import { ServiceVirtualization } from "../virtualization.ts";

export const SERVICE_DEFINITION_MAX_LENGTH = 100;

export interface ServiceRecord extends RecordBase, Discoverable {
  readonly host_id: string;
  readonly network_id: string;
  readonly name: string;
  readonly position: number;
  readonly service_definition: string;
  readonly source: SourceRecord;
  readonly tags: readonly string[];
  readonly virtualization: Static<typeof ServiceVirtualization> | null;
  readonly first_discovery_id: string | null;
}

export const services = sqliteTable("services", {
  ...liveColumns,
  network_n: integer()
    .notNull()
    .references(() => networks.n),
  host_n: integer()
    .notNull()
    .references(() => hosts.n),
  name: text().notNull(),
  service_definition: text().notNull(),
});

export const serviceKind: Kind<ServiceRecord> = {
  name: "service",
  plural: "services",
  code: 12,
  table: services,
  columns: (service, n) => ({
    network_n: n(service.network_id),
    host_n: n(service.host_id),
    name: service.name,
    service_definition: service.service_definition,
  }),
  scopes: { network: "network_n", host: "host_n" },
  scopeIds: (service) => ({ network: service.network_id, host: service.host_id }),
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
  unique: { field: "name", value: (service) => service.name },
  sortKeys: (service) => ({
    name: textSortKey(service.name),
    service_definition: textSortKey(service.service_definition),
  }),
};

/** What lists of services are grouped and ordered by; texts without regard to case. */
export const SERVICE_ORDER_FIELDS = [
  "created_at",
  "name",
  "service_definition",
  "position",
  "host_id",
  "network_id",
  "last_seen_at",
  "updated_at",
] as const;
export const SERVICE_KEYED_FIELDS = ["name", "service_definition"] as const;

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
  ...recordFields,
};
