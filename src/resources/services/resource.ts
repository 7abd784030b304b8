// Services as a resource.

import { MEMBER, VIEWER } from "../../access/actor.ts";
import type { HostRecord } from "../hosts/host.ts";
import { hostResource } from "../hosts/resource.ts";
import type { Named, ObjectNames, Resource } from "../resource.ts";
import { VIRTUALIZATION_BY_NAME } from "../virtualization.ts";
import { type ServiceRecord, serviceKind } from "./service.ts";
import { SERVICE_EXAMPLE, Service, ServiceAlone } from "./service-body.ts";
import { composeServices, composeServicesAlone, SERVICE_COLUMNS } from "./service-view.ts";

/** Virtualizing services are named with their host: hypervisors of one product run services of the same name. */
export const virtualizingService: Named<ServiceRecord> = {
  kind: serviceKind,
  names: {
    columns: {
      virtualization: {
        name: VIRTUALIZATION_BY_NAME,
        id: ({ details }: Virtualization) => details.service_id ?? null,
        text: byName,
      },
    },
    fields: ["name"],
    of: { part: hostResource, field: "host_id" },
    example: "hv-1 KVM",
  },
};

export const serviceResource: Resource<ServiceRecord> = {
  kind: serviceKind,
  path: "services",
  group: "Services",
  about: "Services on hosts, with their endpoints.",
  responseSchema: Service,
  compose: composeServices,
  columns: SERVICE_COLUMNS,
  composeWithoutParts: composeServicesAlone,
  schemaWithoutParts: ServiceAlone,
  example: SERVICE_EXAMPLE,
  names: { columns: { service_id: "service_name" }, fields: ["name"], example: "Web shop" },
  restores: "Includes its bindings.",
  read: VIEWER,
  write: MEMBER,
};

type Virtualization = NonNullable<ServiceRecord["virtualization"] | HostRecord["virtualization"]>;

/** Replaces the service's id with its name. */
function byName({ type, details: { service_id: _id, ...details } }: Virtualization, { service }: ObjectNames) {
  return { type, details: service === undefined ? details : { ...details, service: String(service) } };
}
