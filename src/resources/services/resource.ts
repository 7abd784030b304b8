// Services as a resource.

import { MEMBER, VIEWER } from "../../access/actor.ts";
import type { Resource } from "../resource.ts";
import { type ServiceRecord, serviceKind } from "./service.ts";
import { SERVICE_EXAMPLE, Service, ServiceAlone } from "./service-body.ts";
import { composeServices, composeServicesAlone, SERVICE_COLUMNS } from "./service-view.ts";

export const serviceResource: Resource<ServiceRecord> = {
  kind: serviceKind,
  path: "services",
  group: "Services",
  about: "What runs on hosts, and where it listens.",
  answer: Service,
  compose: composeServices,
  columns: SERVICE_COLUMNS,
  composeAlone: composeServicesAlone,
  answerAlone: ServiceAlone,
  example: SERVICE_EXAMPLE,
  names: { columns: { service_id: "service_name" }, fields: ["name"], example: "Web shop" },
  restores: "Includes its bindings.",
  read: VIEWER,
  write: MEMBER,
};
