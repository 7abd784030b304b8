// What a record is made of that discovery sees for the first time: of fields that it tells nothing of, what they are
// where nobody does.

import { nonNull } from "../../base/fields.ts";
import type { OwnFields } from "../../db/kind.ts";
import type { BindingRecord } from "../../resources/bindings/binding.ts";
import { type HostRecord, UNSAID_HOST } from "../../resources/hosts/host.ts";
import type { PortRecord } from "../../resources/ports/port.ts";
import { type PortProtocol, portType } from "../../resources/ports/port-type.ts";
import type { ServiceRecord } from "../../resources/services/service.ts";
import { DISCOVERED, type SourceRecord } from "../../resources/source.ts";
import type { SubnetRecord } from "../../resources/subnets/subnet.ts";
import type { IdentifiedService } from "../sightings.ts";
import type { Reported } from "./reported-fields.ts";

type Host = Pick<HostRecord, "id" | "network_id">;

/** What is reported of a new host. */
export type HostFields = Reported<HostRecord> & Pick<HostRecord, "name" | "source">;

/** A host with what was reported of it. */
export function foundHost(networkId: string, { name, source, ...reported }: HostFields): OwnFields<HostRecord> {
  return { name, network_id: networkId, source, ...UNSAID_HOST, ...nonNull(reported) };
}

/** A port of a host. @param discoveryId the scan or run that sees it */
export function foundPort(
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
 * A service of a host.
 * @param position behind the services that the host has
 * @param discoveryId as foundPort takes it
 */
export function foundService(
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
 * A service on a port.
 * @param addressId null: on all addresses of the host
 * @param discoveryId as foundPort takes it
 */
export function foundBinding(
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

/** A subnet, called by its prefix. @param known what is known of it besides */
export function foundSubnet(
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
