// Ports that answered and the services behind them. A service is known again by the port that it is bound to: what a person renamed stays.

import { bindingKind } from "../../resources/bindings/binding.ts";
import type { HostRecord } from "../../resources/hosts/host.ts";
import { portType } from "../../resources/ports/port-type.ts";
import { portKind } from "../../resources/ports/port.ts";
import { serviceKind } from "../../resources/services/service.ts";
import { DISCOVERED } from "../../resources/source.ts";
import type { IdentifiedService, OpenPort } from "../sightings.ts";
import type { ScanWrite } from "./scan-write.ts";

/** Writes the ports of a host that were seen open. Those that were not are left as they are: a filter may stand between. */
export function recordOpenPorts(write: ScanWrite, host: HostRecord, open: readonly OpenPort[]): void {
  if (open.length === 0) return;
  const { tx } = write;
  const ports = new Map(tx.children(portKind, "host_n", host.id).map((each) => [`${each.number}/${each.protocol}`, each]));
  const bindings = tx.children(bindingKind, "host_n", host.id);
  const services = new Map(tx.children(serviceKind, "host_n", host.id).map((each) => [each.id, each]));
  for (const { number, protocol, service } of open) {
    const known = ports.get(`${number}/${protocol}`);
    const port =
      known === undefined
        ? write.found(portKind, { host_id: host.id, network_id: host.network_id, number, protocol, type: portType(number, protocol) })
        : write.again(portKind, known, {});
    if (port === null) continue;
    const bound = bindings.filter((each) => each.port_id === port.id);
    for (const binding of bound) {
      write.see(bindingKind, binding.id);
      const record = services.get(binding.service_id);
      // Several services on one port, by name or address, are a person's work.
      if (record !== undefined) services.set(record.id, write.again(serviceKind, record, bound.length === 1 && service !== null && !isTaken(services.values(), record.id, service) ? { ...service } : {}));
    }
    if (bound.length > 0 || service === null) continue;
    const alike = [...services.values()].find((each) => each.name === service.name && each.service_definition === service.service_definition);
    const record =
      alike === undefined
        ? write.found(serviceKind, { host_id: host.id, network_id: host.network_id, ...service, position: services.size, source: DISCOVERED, tags: [], virtualization: null })
        : write.again(serviceKind, alike, {});
    if (record === null) continue;
    services.set(record.id, record);
    write.found(bindingKind, { service_id: record.id, host_id: host.id, network_id: host.network_id, type: "Port", port_id: port.id, ip_address_id: null });
  }
}

/** A host has no two services of one name and definition. */
function isTaken(services: Iterable<{ readonly id: string } & IdentifiedService>, id: string, wanted: IdentifiedService): boolean {
  for (const each of services) if (each.id !== id && each.name === wanted.name && each.service_definition === wanted.service_definition) return true;
  return false;
}
