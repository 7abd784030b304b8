// Ports that answered and the services behind them. A service is known again by the port that it is bound to: what a person renamed stays.

import { CHILDREN_MAX } from "../../http/schemas.ts";
import { bindingKind, type BindingRecord } from "../../resources/bindings/binding.ts";
import type { HostRecord } from "../../resources/hosts/host.ts";
import { portType } from "../../resources/ports/port-type.ts";
import { portKind, type PortRecord } from "../../resources/ports/port.ts";
import { serviceKind, type ServiceRecord } from "../../resources/services/service.ts";
import { DISCOVERED } from "../../resources/source.ts";
import type { IdentifiedService, OpenPort } from "../sightings.ts";
import { isTouchedByPerson } from "./provenance.ts";
import type { ScanWrite } from "./scan-write.ts";

/** Writes the ports of a host that were seen open. Those that were not are left as they are: a filter may stand between. */
export function recordOpenPorts(write: ScanWrite, host: HostRecord, open: readonly OpenPort[]): void {
  if (open.length === 0) return;
  const { tx } = write;
  const ports = new Map(
    tx.children(portKind, "host_n", host.id).map((each) => [`${each.number}/${each.protocol}`, each]),
  );
  let bindings = tx.children(bindingKind, "host_n", host.id);
  const services = new Map(tx.children(serviceKind, "host_n", host.id).map((each) => [each.id, each]));
  for (const { number, protocol, service } of open) {
    const known = ports.get(`${number}/${protocol}`);
    if (known === undefined && ports.size >= CHILDREN_MAX) continue;
    const port =
      known === undefined
        ? write.found(portKind, {
            host_id: host.id,
            network_id: host.network_id,
            number,
            protocol,
            type: portType(number, protocol),
          })
        : write.again(portKind, known, {});
    if (port === null) continue;
    ports.set(`${number}/${protocol}`, port);
    const bound = bindings.filter((each) => each.port_id === port.id);
    const [only] = bound;
    if (
      service !== null &&
      only !== undefined &&
      bound.length === 1 &&
      isOtherService(write, only, service, { services, bindings, ports, open })
    ) {
      tx.remove(bindingKind, only.id);
      bindings = bindings.filter((each) => each.id !== only.id);
      const left = services.get(only.service_id);
      if (left !== undefined && !bindings.some((each) => each.service_id === left.id)) {
        write.close(serviceKind, left, left.name, `${service.name} answers at its port ${number}`);
        services.delete(left.id);
      }
      bound.length = 0;
    }
    for (const binding of bound) {
      write.see(bindingKind, binding.id);
      const record = services.get(binding.service_id);
      // Several services on one port, by name or address, are a person's work.
      if (record !== undefined)
        services.set(
          record.id,
          write.again(
            serviceKind,
            record,
            bound.length === 1 && service !== null && !isTaken(services.values(), record.id, service)
              ? { ...service }
              : {},
          ),
        );
    }
    if (bound.length > 0 || service === null) continue;
    const alike = [...services.values()].find((each) => isSame(each, service));
    if (alike === undefined && services.size >= CHILDREN_MAX) continue;
    const record =
      alike === undefined
        ? write.found(serviceKind, {
            host_id: host.id,
            network_id: host.network_id,
            ...service,
            position: services.size,
            source: DISCOVERED,
            tags: [],
            virtualization: null,
          })
        : write.again(serviceKind, alike, {});
    if (record === null) continue;
    services.set(record.id, record);
    const binding = write.found(bindingKind, {
      service_id: record.id,
      host_id: host.id,
      network_id: host.network_id,
      type: "Port",
      port_id: port.id,
      ip_address_id: null,
    });
    if (binding !== null) bindings.push(binding);
  }
}

interface Known {
  readonly services: ReadonlyMap<string, ServiceRecord>;
  readonly bindings: readonly BindingRecord[];
  readonly ports: ReadonlyMap<string, PortRecord>;
  readonly open: readonly OpenPort[];
}

/**
 * Whether what answers at a port is another service of the host than the one that it is bound to: that one is also at other ports, where something else
 * answers, or another has the name by now. Else it is the same under a new name. What a person has touched stays as it is.
 */
function isOtherService(
  write: ScanWrite,
  binding: BindingRecord,
  told: IdentifiedService,
  { services, bindings, ports, open }: Known,
): boolean {
  const record = services.get(binding.service_id);
  if (
    record === undefined ||
    isSame(record, told) ||
    binding.first_discovery_id === null ||
    record.first_discovery_id === null
  )
    return false;
  const others = bindings.filter((each) => each.service_id === record.id && each.id !== binding.id);
  const isRenamed = (portId: string | null) =>
    open.some(
      (each) =>
        each.service !== null &&
        isSame(each.service, told) &&
        ports.get(`${each.number}/${each.protocol}`)?.id === portId,
    );
  if (others.every((each) => isRenamed(each.port_id)) && !isTaken(services.values(), record.id, told)) return false;
  return !isTouchedByPerson(write.tx, binding.id) && !isTouchedByPerson(write.tx, record.id);
}

function isSame(some: IdentifiedService, other: IdentifiedService): boolean {
  return some.name === other.name && some.service_definition === other.service_definition;
}

/** A host has no two services of one name and definition. */
function isTaken(
  services: Iterable<{ readonly id: string } & IdentifiedService>,
  id: string,
  wanted: IdentifiedService,
): boolean {
  for (const each of services) if (each.id !== id && isSame(each, wanted)) return true;
  return false;
}
