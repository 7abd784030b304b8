// Host and service virtualization: platform, name and id of the virtual machine or container.

import { Type } from "@sinclair/typebox";
import { Body, Line, OneOf, Uuid } from "../schemas/schemas.ts";

export const HOST_VIRTUALIZATION_TYPES = ["Proxmox", "VCenter", "Esxi", "HyperV", "Kvm"] as const;
export const SERVICE_VIRTUALIZATION_TYPES = ["Docker", "Podman"] as const;

/** Table column with the virtualization and its service by name. */
export const VIRTUALIZATION_BY_NAME = "virtualization_by_name";

const ServiceId = Type.Optional(Type.String({ ...Uuid, description: "The service that runs it." }));

export const HostVirtualization = Body(
  {
    type: OneOf(HOST_VIRTUALIZATION_TYPES),
    details: Body({ vm_name: Type.Optional(Line), vm_id: Type.Optional(Line), service_id: ServiceId }),
  },
  { $id: "HostVirtualization" },
);

export const ServiceVirtualization = Body(
  {
    type: OneOf(SERVICE_VIRTUALIZATION_TYPES),
    details: Body({
      container_name: Type.Optional(Line),
      container_id: Type.Optional(Line),
      compose_project: Type.Optional(Line),
      service_id: ServiceId,
    }),
  },
  { $id: "ServiceVirtualization" },
);

/** The virtualization of a record without its service reference. */
export function withoutService<V extends { readonly details: { service_id?: string } }>(record: {
  readonly virtualization: V | null;
}): { virtualization: V | null } {
  if (record.virtualization === null) return { virtualization: null };
  const { service_id: _removed, ...details } = record.virtualization.details;
  return { virtualization: { ...record.virtualization, details } };
}
