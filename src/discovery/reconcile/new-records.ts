// Builders for newly discovered records, with defaults for the fields that discovery does not report.

import { nonNull } from "../../base/fields.ts";
import type { OwnFields } from "../../db/kind.ts";
import type { BindingRecord } from "../../resources/bindings/binding.ts";
import { HOST_DEFAULTS, type HostRecord } from "../../resources/hosts/host.ts";
import type { PortRecord } from "../../resources/ports/port.ts";
import { type PortProtocol, portType } from "../../resources/ports/port-type.ts";
import type { ServiceRecord } from "../../resources/services/service.ts";
import { DISCOVERED, type SourceRecord } from "../../resources/source.ts";
import type { SubnetRecord } from "../../resources/subnets/subnet.ts";
import type { IdentifiedService } from "../sightings.ts";
import type { Reported } from "./reported-fields.ts";

type Host = Pick<HostRecord, "id" | "network_id">;

/** Reported fields of a new host. */
export type HostFields = Reported<HostRecord> & Pick<HostRecord, "name" | "source">;

/** Builds a host from its reported fields. */
export function discoveredHost(networkId: string, { name, source, ...reported }: HostFields): OwnFields<HostRecord> {
  return { name, network_id: networkId, source, ...HOST_DEFAULTS, ...nonNull(reported) };
}

/** Builds a port. @param discoveryId the scan or run that found it */
export function discoveredPort(
  host: Host,
  { number, protocol }: { readonly number: number; readonly protocol: PortProtocol },
  discoveryId: string,
): OwnFields<PortRecord> {
  return {
    host_id: host.id,
    network_id: host.network_id,
    number,
    protocol,
    type: portType(number, protocol),
    first_discovery_id: discoveryId,
  };
}

/**
 * Builds a service.
 * @param position after the host's existing services
 * @param discoveryId same as for discoveredPort
 */
export function discoveredService(
  host: Host,
  { name, service_definition, source = DISCOVERED }: IdentifiedService & { readonly source?: SourceRecord },
  position: number,
  discoveryId: string,
): OwnFields<ServiceRecord> {
  return {
    host_id: host.id,
    network_id: host.network_id,
    name,
    position,
    service_definition,
    source,
    tags: [],
    virtualization: null,
    first_discovery_id: discoveryId,
  };
}

/**
 * Builds the binding of a service to a port.
 * @param addressId null: on all addresses of the host
 * @param discoveryId same as for discoveredPort
 */
export function discoveredBinding(
  host: Host,
  serviceId: string,
  portId: string,
  addressId: string | null,
  discoveryId: string,
): OwnFields<BindingRecord> {
  return {
    service_id: serviceId,
    host_id: host.id,
    network_id: host.network_id,
    type: "Port",
    port_id: portId,
    ip_address_id: addressId,
    first_discovery_id: discoveryId,
  };
}

/** Builds a subnet named after its prefix. @param known other known fields */
export function discoveredSubnet(
  networkId: string,
  cidr: string,
  known: Partial<Pick<SubnetRecord, "subnet_type" | "source" | "accepts_credentials">>,
): OwnFields<SubnetRecord> {
  return {
    network_id: networkId,
    cidr,
    name: cidr,
    description: null,
    subnet_type: "Unknown",
    vlan_id: null,
    source: DISCOVERED,
    tags: [],
    accepts_credentials: false,
    ...known,
  };
}
