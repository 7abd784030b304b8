// Records open ports and their services. A service is recognized by its port and keeps a manual name.

import { type BindingRecord, bindingKind } from "../../resources/bindings/binding.ts";
import type { HostRecord } from "../../resources/hosts/host.ts";
import { type PortRecord, portKind } from "../../resources/ports/port.ts";
import { type ServiceRecord, serviceIdentity, serviceKind } from "../../resources/services/service.ts";
import { CHILDREN_MAX } from "../../schemas/schemas.ts";
import type { IdentifiedService, OpenPort } from "../sightings.ts";
import { discoveredBinding, discoveredPort, discoveredService } from "./new-records.ts";
import { wasWrittenByUser } from "./provenance.ts";
import type { ScanWrite } from "./scan-write.ts";

/** Keeps other ports: endRefusedPorts decides on them. */
export function recordOpenPorts(write: ScanWrite, host: HostRecord, open: readonly OpenPort[]): void {
  if (open.length === 0) return;
  const { tx } = write;
  const stored = tx.children(portKind, "host_n", host.id);
  const ports = new Map(stored.map((each) => [`${each.number}/${each.protocol}`, each]));
  let bindings = tx.children(bindingKind, "host_n", host.id);
  const services = new Map(tx.children(serviceKind, "host_n", host.id).map((each) => [each.id, each]));
  for (const { number, protocol, service } of open) {
    const known = ports.get(`${number}/${protocol}`);
    if (known === undefined && ports.size >= CHILDREN_MAX) continue;
    const port =
      known === undefined
        ? write.create(portKind, discoveredPort(host, { number, protocol }, write.scanId))
        : write.update(portKind, known, {});
    if (port === null) continue;
    ports.set(`${number}/${protocol}`, port);
    const bound = bindings.filter((each) => each.port_id === port.id);
    const [single] = bound;
    if (
      service !== null &&
      single !== undefined &&
      bound.length === 1 &&
      isReplaced(write, single, service, { services, bindings, ports, open })
    ) {
      tx.remove(bindingKind, single.id);
      bindings = bindings.filter((each) => each.id !== single.id);
      const orphaned = services.get(single.service_id);
      if (orphaned !== undefined && !bindings.some((each) => each.service_id === orphaned.id)) {
        write.close(serviceKind, orphaned, orphaned.name, `${service.name} answers on its port ${number}`);
        services.delete(orphaned.id);
      }
      bound.length = 0;
    }
    for (const binding of bound) {
      write.markSeen(bindingKind, binding.id);
      const record = services.get(binding.service_id);
      if (record === undefined) continue;
      // A user entered several services on one port.
      const isRenamed = bound.length === 1 && service !== null && !isNameTaken(services.values(), record.id, service);
      services.set(record.id, write.update(serviceKind, record, isRenamed ? { ...service } : {}));
    }
    if (bound.length > 0 || service === null) continue;
    const existing = [...services.values()].find((each) => isSame(each, service));
    if (existing === undefined && services.size >= CHILDREN_MAX) continue;
    const record =
      existing === undefined
        ? write.create(serviceKind, discoveredService(host, service, services.size, write.scanId))
        : write.update(serviceKind, existing, {});
    if (record === null) continue;
    services.set(record.id, record);
    const binding = write.create(bindingKind, discoveredBinding(host, record.id, port.id, null, write.scanId));
    if (binding !== null) bindings.push(binding);
  }
}

interface KnownServices {
  readonly services: ReadonlyMap<string, ServiceRecord>;
  readonly bindings: readonly BindingRecord[];
  readonly ports: ReadonlyMap<string, PortRecord>;
  readonly open: readonly OpenPort[];
}

/**
 * True if the port's bound service was replaced: it is also bound to other ports, or its new name is taken. Otherwise
 * it was renamed. Keeps manually edited services.
 */
function isReplaced(
  write: ScanWrite,
  binding: BindingRecord,
  reported: IdentifiedService,
  { services, bindings, ports, open }: KnownServices,
): boolean {
  const record = services.get(binding.service_id);
  if (record === undefined || isSame(record, reported)) return false;
  if (binding.first_discovery_id === null || record.first_discovery_id === null) return false;
  const others = bindings.filter((each) => each.service_id === record.id && each.id !== binding.id);
  const isRenamed = (portId: string | null) =>
    open.some(
      (each) =>
        each.service !== null &&
        isSame(each.service, reported) &&
        ports.get(`${each.number}/${each.protocol}`)?.id === portId,
    );
  if (others.every((each) => isRenamed(each.port_id)) && !isNameTaken(services.values(), record.id, reported))
    return false;
  return !wasWrittenByUser(write.tx, binding.id) && !wasWrittenByUser(write.tx, record.id);
}

function isSame(some: IdentifiedService, other: IdentifiedService): boolean {
  return serviceIdentity(some) === serviceIdentity(other);
}

function isNameTaken(
  services: Iterable<{ readonly id: string } & IdentifiedService>,
  id: string,
  wanted: IdentifiedService,
): boolean {
  for (const each of services) if (each.id !== id && isSame(each, wanted)) return true;
  return false;
}
