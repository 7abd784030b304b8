// Request and response schemas of services, including the service with its bindings.

import { type Static, type TSchema, Type } from "@sinclair/typebox";
import {
  Body,
  CHILDREN_MAX,
  INT32_MAX,
  Name,
  Nullable,
  OBSERVED_READ_ONLY,
  TagIds,
  Uuid,
} from "../../schemas/schemas.ts";
import { BINDING_EXAMPLE, Binding, BindingItem } from "../bindings/binding.ts";
import { customFieldsOfBody } from "../custom-fields/field-values.ts";
import { DISCOVERABLE_READ_ONLY } from "../discovered.ts";
import { RECORD_EXAMPLE, type WriteSchemas } from "../record.ts";
import { ServiceVirtualization } from "../virtualization.ts";
import { ServiceDefinition, type ServiceRecord, serviceFields } from "./service.ts";

/** List of a record's children in its body. @param children as part of a sentence */
export function syncedList<T extends TSchema>(item: T, children: string) {
  const description = `Syncs ${children} to this list; null or omitted: unchanged.`;
  return Type.Optional(Nullable(Type.Array(item, { maxItems: CHILDREN_MAX, description })));
}

const Position = (defaultNote: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: INT32_MAX, description: defaultNote }));
const identifying = { id: Type.Optional(Uuid), network_id: Type.Optional(Uuid) };
const writeFields = {
  name: Name,
  service_definition: ServiceDefinition,
  tags: Type.Optional(TagIds),
  virtualization: Type.Optional(Nullable(ServiceVirtualization)),
  bindings: syncedList(BindingItem, "the service's bindings"),
  ...customFieldsOfBody,
} satisfies WriteSchemas<ServiceRecord, "host_id" | "network_id" | "position" | "source", "bindings">;
const READ_ONLY = [...OBSERVED_READ_ONLY, ...DISCOVERABLE_READ_ONLY, "source"];

/** Item in a host's list of services. */
export const ServiceItem = Body(
  {
    ...identifying,
    host_id: Type.Optional(Uuid),
    ...writeFields,
    position: Position("Default for a new item: its position in the list."),
  },
  { ignored: READ_ONLY },
);
const position = Position("Default on create: after the host's last service.");
export const ServiceCreate = Body(
  { ...identifying, organization_id: Type.Optional(Uuid), host_id: Uuid, ...writeFields, position },
  { ignored: READ_ONLY },
);
export const ServiceUpdate = Body(
  { ...identifying, organization_id: Type.Optional(Uuid), host_id: Type.Optional(Uuid), ...writeFields, position },
  { ignored: READ_ONLY },
);
export type ServiceItem = Static<typeof ServiceItem>;
export type ServiceCreate = Static<typeof ServiceCreate>;
export type ServiceUpdate = Static<typeof ServiceUpdate>;

export const Service = Type.Object({ ...serviceFields, bindings: Type.Array(Binding) }, { $id: "Service" });

/** A service without its bindings, as in change lists. */
export const ServiceAlone = Type.Object(serviceFields, { $id: "ServiceAlone" });

export const SERVICE_EXAMPLE: Static<typeof Service> = {
  id: BINDING_EXAMPLE.service_id,
  host_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0010",
  network_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002",
  name: "Web shop",
  position: 0,
  service_definition: "nginx",
  source: { type: "Manual" },
  tags: [],
  virtualization: null,
  first_discovery_id: null,
  last_discovery_id: null,
  last_seen_at: "2026-11-21T09:15:00.123Z",
  ...RECORD_EXAMPLE,
  bindings: [BINDING_EXAMPLE],
};
