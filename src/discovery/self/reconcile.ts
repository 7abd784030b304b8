// Reconciliation of the inventory's record of this machine with a snapshot, in one write transaction: only differences
// create versions. Manual data is kept; records that discovery created and no longer finds are deleted.

import { eq } from "drizzle-orm";
import type { CommandActor } from "../../access/actor.ts";
import { getReferenced } from "../../access/reach.ts";
import { applianceSettings } from "../../access/tables.ts";
import { nonNull, ownValue } from "../../base/fields.ts";
import { formatInstant } from "../../base/instant.ts";
import { isSingleDevice } from "../../base/mac.ts";
import type { Kind, NoOtherFields, Observed, OwnFields, RecordBase } from "../../db/kind.ts";
import { withChecksum } from "../../db/row-checksum.ts";
import { type CallsOf, markLongRunning } from "../../db/writing/command.ts";
import type { NetChange, WriteTransaction } from "../../db/writing/transaction.ts";
import { bindingKind } from "../../resources/bindings/binding.ts";
import { withDefaults } from "../../resources/custom-fields/write-values.ts";
import type { Discoverable } from "../../resources/discovered.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { removeRecord } from "../../resources/ignored/removal.ts";
import { type IpAddressRecord, ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import { networkKind } from "../../resources/networks/network.ts";
import { portKind } from "../../resources/ports/port.ts";
import { serviceIdentity, serviceKind } from "../../resources/services/service.ts";
import { DISCOVERED } from "../../resources/source.ts";
import { subnetKind } from "../../resources/subnets/subnet.ts";
import { typeByReport } from "../device-types/classify.ts";
import { identify } from "../reconcile/identity.ts";
import { ReportedPlaces } from "../reconcile/interface-addresses.ts";
import { KnownHosts } from "../reconcile/known-hosts.ts";
import {
  discoveredBinding,
  discoveredHost,
  discoveredPort,
  discoveredService,
  discoveredSubnet,
} from "../reconcile/new-records.ts";
import { clearStale, isUserEdited, setStale } from "../reconcile/protected-records.ts";
import { isSetByUser } from "../reconcile/provenance.ts";
import { selfHost, selfHostSetting } from "../reconcile/self-host.ts";
import { isOwnAddress, nameSign, serialSigns, signsWith } from "../reconcile/signs.ts";
import { isLoopbackOnly } from "./inventory-addresses.ts";
import type { MachineSnapshot } from "./machine.ts";
import { serviceOf } from "./well-known-services.ts";

export interface SelfDiscoveryInput {
  readonly network_id: string;
  /** Names this run in `first_discovery_id` and `last_discovery_id`. */
  readonly discovery_id: string;
  readonly machine: MachineSnapshot;
}

export interface SelfDiscovered {
  readonly discovery_id: string;
  readonly network_id: string;
  readonly host_id: string;
  /** Records by kind, plural. */
  readonly created: Record<string, number>;
  readonly updated: Record<string, number>;
  readonly deleted: Record<string, number>;
}

/**
 * Updates this machine's records in a network from its snapshot. An unchanged machine creates no version; manual
 * renames, restrictions and entries are kept.
 * @throws DomainError entity_reference_invalid for the network
 */
function recordSelf(tx: WriteTransaction, input: SelfDiscoveryInput, actor: CommandActor): SelfDiscovered {
  getReferenced(tx, networkKind, [input.network_id], "network_id", actor);
  return new SelfReconciliation(tx, input, actor).run();
}

/** A record created by discovery or by a user. */
type DiscoveredRecord = RecordBase & Discoverable & { readonly first_discovery_id?: string | null | undefined };

class SelfReconciliation {
  private readonly tx: WriteTransaction;
  private readonly input: SelfDiscoveryInput;
  private readonly machine: MachineSnapshot;
  private readonly actor: CommandActor;
  private readonly seen: Observed;
  /** The previous run; null if none is stored. */
  private lastRun: string | null = null;

  constructor(tx: WriteTransaction, input: SelfDiscoveryInput, actor: CommandActor) {
    this.tx = tx;
    this.input = input;
    this.machine = input.machine;
    this.actor = actor;
    this.seen = { last_discovery_id: input.discovery_id, last_seen_at: formatInstant(tx.instant) };
  }

  run(): SelfDiscovered {
    const host = this.host();
    const addressIds = this.addresses(host);
    this.interfaces(host, addressIds);
    const portIds = this.ports(host);
    this.services(host, addressIds, portIds);
    const { discovery_id, network_id } = this.input;
    return { discovery_id, network_id, host_id: host.id, ...this.counts() };
  }

  /** Returns the host record of this machine in the network: that of the last run, while it exists. */
  private host(): HostRecord {
    const { tx, machine } = this;
    const { sys_descr, manufacturer, model, serial_number } = machine;
    const reported = { sys_name: machine.hostname, sys_descr, manufacturer, model, serial_number };
    const setting = selfHostSetting(this.input.network_id);
    const ownHost = selfHost(tx, this.input.network_id);
    const present = ownHost ?? this.hostFoundByScans();
    // A host found only now has no records of self discovery.
    this.lastRun = ownHost === null ? "" : this.setting(`self_discovery/${this.input.network_id}`);
    this.set(`self_discovery/${this.input.network_id}`, this.input.discovery_id);
    if (present !== null) {
      // Data that the machine does not report (a container has no serial number) must not clear manual values.
      const unknown = Object.fromEntries(
        Object.entries(reported).filter(([field]) => present[field as keyof typeof reported] === null),
      ) as typeof reported;
      // Keep what an SNMP agent on this machine reported.
      const isOwn = present.sys_object_id === null;
      const type = isOwn && (present.device_type_source ?? null) === null ? typeByReport(reported) : null;
      const { sys_name } = tx.update(hostKind, present.id, { ...nonNull(isOwn ? reported : unknown), ...type });
      if (sys_name !== null && sys_name !== present.name && !isSetByUser(tx, present.id, "name"))
        tx.update(hostKind, present.id, { name: sys_name });
      tx.observe(hostKind, present.id, { last_seen_at: this.seen.last_seen_at ?? null });
      if (ownHost === null) this.set(setting, present.id);
      return present;
    }
    const names = { name: machine.hostname, hostname: machine.hostname, source: DISCOVERED };
    const { organizationId } = this.actor;
    const values = discoveredHost(this.input.network_id, { ...names, ...reported, ...typeByReport(reported) });
    const host = tx.create(hostKind, organizationId, withDefaults(tx, hostKind, organizationId, values), {
      observed: { last_seen_at: this.seen.last_seen_at ?? null },
    });
    this.set(setting, host.id);
    return host;
  }

  /** Returns the host under which a scan found this machine earlier. */
  private hostFoundByScans(): HostRecord | null {
    const { tx, machine } = this;
    const macs = machine.interfaces.flatMap((each) => each.mac_address ?? []);
    const signs = signsWith({
      serialNumbers: serialSigns([machine.serial_number]),
      macs: new Set(macs.filter(isSingleDevice)),
      sysName: nameSign(machine.hostname),
      addresses: new Set(machine.addresses.map((each) => each.ip_address).filter(isOwnAddress)),
    });
    const { known: candidates, weights } = new KnownHosts(
      tx,
      this.input.network_id,
      this.input.discovery_id,
    ).candidates(signs);
    const known = identify(signs, candidates, weights);
    return known === null ? null : tx.find(hostKind, known.id);
  }

  private setting(name: string): string | null {
    return (
      this.tx.db
        .select({ value: applianceSettings.value })
        .from(applianceSettings)
        .where(eq(applianceSettings.name, name))
        .limit(1)
        .all()[0]?.value ?? null
    );
  }

  private set(name: string, value: string): void {
    const { tx } = this;
    tx.runAfterWrite(() => {
      const row = withChecksum(applianceSettings, { name, value });
      tx.db
        .insert(applianceSettings)
        .values(row)
        .onConflictDoUpdate({ target: applianceSettings.name, set: row })
        .run();
    });
  }

  /** @returns address → ID */
  private addresses(host: HostRecord): Map<string, string> {
    const { tx } = this;
    const macs = new Map(this.machine.interfaces.map((each) => [each.if_index, each.mac_address]));
    const known = new Map(tx.children(ipAddressKind, "host_n", host.id).map((each) => [each.ip_address, each]));
    const ids = new Map<string, string>();
    for (const [position, address] of this.machine.addresses.entries()) {
      const present = known.get(address.ip_address);
      known.delete(address.ip_address);
      const mac = macs.get(address.if_index) ?? null;
      // Its current subnet contains the address: the store guarantees that. Choosing among several is up to the user.
      const fields = {
        subnet_id: present?.subnet_id ?? this.subnet(address.cidr),
        ip_address: address.ip_address,
        mac_address: mac ?? present?.mac_address ?? null,
      };
      const name = this.machine.interfaces.find((each) => each.if_index === address.if_index)?.if_name ?? "";
      if (present === undefined)
        ids.set(
          address.ip_address,
          this.create(ipAddressKind, {
            host_id: host.id,
            network_id: host.network_id,
            ...fields,
            name,
            position,
            first_discovery_id: this.input.discovery_id,
          }),
        );
      else {
        const isOther = name !== "" && name !== present.name;
        const isFree = isOther && (present.name === "" || !isSetByUser(tx, present.id, "name", [""]));
        ids.set(address.ip_address, this.update(ipAddressKind, present.id, isFree ? { ...fields, name } : fields));
      }
    }
    const { true: hidden = [], false: missing = [] } = Object.groupBy(
      known.values(),
      (each) => `${this.mayBeHidden(each)}`,
    );
    this.removeMissing(ipAddressKind, missing);
    for (const { id } of hidden) if (!this.wasSeenByScan(id)) this.keepOwn(ipAddressKind, id);
    return ids;
  }

  /**
   * True if the address may belong to an interface that is down, when only other interfaces' addresses were visible.
   */
  private mayBeHidden({ name, mac_address: mac }: IpAddressRecord): boolean {
    const { has_all_addresses: hasAll, interfaces } = this.machine;
    if (hasAll) return false;
    const own =
      interfaces.find((each) => each.if_name === name) ??
      interfaces.find((each) => mac !== null && each.mac_address === mac);
    return own?.admin_status === "Down";
  }

  private interfaces(host: HostRecord, addressIds: Map<string, string>): void {
    const { tx } = this;
    const known = new Map(tx.children(ifEntryKind, "host_n", host.id).map((each) => [each.if_index, each]));
    const places = this.machine.addresses.map(
      ({ if_index, ip_address }) => [if_index, { id: addressIds.get(ip_address) as string, ip_address }] as const,
    );
    const reported = new ReportedPlaces(places, () => !this.machine.has_all_addresses);
    const ids = new Map<number, string>();
    for (const each of this.machine.interfaces) {
      const fields = {
        if_index: each.if_index,
        if_descr: each.if_descr,
        if_name: each.if_name,
        if_type: each.if_type,
        admin_status: each.admin_status,
        oper_status: each.oper_status,
        ...nonNull({ if_alias: each.if_alias, speed_bps: each.speed_bps, mac_address: each.mac_address }),
      };
      const present = known.get(each.if_index);
      const addressId = reported.addressIdOf(each.if_index, present?.ip_address_id);
      known.delete(each.if_index);
      if (present === undefined)
        ids.set(
          each.if_index,
          this.create(ifEntryKind, {
            host_id: host.id,
            network_id: host.network_id,
            ...fields,
            ip_address_id: addressId ?? undefined,
            first_discovery_id: this.input.discovery_id,
          }),
        );
      else {
        const isOther = addressId !== undefined && addressId !== present.ip_address_id;
        const isFree = isOther && !isSetByUser(tx, present.id, "ip_address_id", [null]);
        const moved = isFree ? { ip_address_id: addressId ?? undefined } : {};
        ids.set(each.if_index, this.update(ifEntryKind, present.id, { ...fields, ...moved }));
      }
    }
    this.stacking(ids);
    this.removeMissing(ifEntryKind, known.values(), { oper_status: "NotPresent" });
  }

  /** Sets the aggregates and parents of interfaces, unless a user has. @param ids by ifIndex */
  private stacking(ids: ReadonlyMap<number, string>): void {
    for (const { if_index, lag_if_index = 0, parent_if_index = 0 } of this.machine.interfaces) {
      const id = ids.get(if_index) as string;
      const entry = this.tx.get(ifEntryKind, id);
      const [lag_id, parent_id] = [ids.get(lag_if_index), ids.get(parent_if_index)];
      const isFree = (field: "lag_id" | "parent_id") => !isSetByUser(this.tx, id, field, [null]);
      if (entry.lag_id !== lag_id && isFree("lag_id")) this.update(ifEntryKind, id, { lag_id });
      if (entry.parent_id !== parent_id && isFree("parent_id")) this.update(ifEntryKind, id, { parent_id });
    }
  }

  /** @returns number and protocol → ID */
  private ports(host: HostRecord): Map<string, string> {
    const known = new Map(this.tx.children(portKind, "host_n", host.id).map((each) => [portName(each), each]));
    const ids = new Map<string, string>();
    for (const port of this.machine.ports) {
      const present = known.get(portName(port));
      known.delete(portName(port));
      const fields = discoveredPort(host, port, this.input.discovery_id);
      if (present === undefined) ids.set(portName(port), this.create(portKind, fields));
      else ids.set(portName(port), this.update(portKind, present.id, { type: fields.type }));
    }
    this.removeMissing(portKind, known.values());
    return ids;
  }

  /**
   * Recognizes a service by its bound port or by its name; manual renames and restrictions are kept. Only a service on
   * ports without any binding is new.
   */
  private services(host: HostRecord, addressIds: Map<string, string>, portIds: Map<string, string>): void {
    const { tx } = this;
    const stored = tx.children(serviceKind, "host_n", host.id);
    const byName = new Map(stored.map((each) => [serviceIdentity(each), each.id]));
    const bindings = tx.children(bindingKind, "host_n", host.id);
    const served = new Set<string>();
    for (const port of this.machine.ports) {
      const service = serviceOf(port);
      // A port that only the machine itself can reach is not a network service.
      if (service === null || isLoopbackOnly(port)) continue;
      const portId = portIds.get(portName(port)) as string;
      const bound = bindings.filter((binding) => binding.port_id === portId);
      for (const binding of bound) {
        served.add(binding.id).add(binding.service_id);
        this.confirm(bindingKind, binding.id);
        this.confirm(serviceKind, binding.service_id);
      }
      if (bound.length > 0) continue;
      const serviceId =
        byName.get(serviceIdentity(service)) ??
        this.create(serviceKind, discoveredService(host, service, byName.size, this.input.discovery_id));
      byName.set(serviceIdentity(service), serviceId);
      served.add(serviceId);
      const boundAddressIds =
        port.bound.length === 0
          ? [null]
          : port.bound.map((text) => addressIds.get(text)).filter((id) => id !== undefined);
      for (const addressId of boundAddressIds)
        this.create(bindingKind, discoveredBinding(host, serviceId, portId, addressId, this.input.discovery_id));
    }
    const isGone = (record: DiscoveredRecord) => !served.has(record.id);
    this.removeMissing(bindingKind, bindings.filter(isGone));
    this.removeMissing(serviceKind, stored.filter(isGone));
  }

  /** Returns the subnet of an address, created if missing. */
  private subnet(cidr: string): string {
    const { tx } = this;
    const networkId = this.input.network_id;
    const present = tx.findByIdentity(subnetKind, `${networkId}/${cidr}`);
    if (present !== null) return present.id;
    const { organizationId } = this.actor;
    const values = withDefaults(tx, subnetKind, organizationId, discoveredSubnet(networkId, cidr, {}));
    return tx.create(subnetKind, organizationId, values).id;
  }

  private create<R extends RecordBase, T extends OwnFields<R>>(kind: Kind<R>, fields: T & NoOtherFields<R, T>): string {
    const { organizationId } = this.actor;
    const values = withDefaults(this.tx, kind, organizationId, fields);
    return this.tx.create(kind, organizationId, values, { observed: this.seen }).id;
  }

  private update<R extends DiscoveredRecord, T extends Partial<OwnFields<R>> & object>(
    kind: Kind<R>,
    id: string,
    fields: T & NoOtherFields<R, T>,
  ): string {
    if (this.wasSeenByScan(id)) {
      // Scans and self discovery describe it differently: keep the text of the last scan.
      this.tx.observe(kind, id, { last_seen_at: this.seen.last_seen_at ?? null });
      return id;
    }
    this.tx.update(kind, id, fields);
    this.confirm(kind, id);
    return id;
  }

  private confirm<R extends DiscoveredRecord>(kind: Kind<R>, id: string): void {
    clearStale(this.tx, kind, this.tx.get(kind, id));
    this.tx.observe(kind, id, this.seen);
  }

  /** Keeps a missing record as self-discovered: a later run may delete it, or see it again. */
  private keepOwn<R extends RecordBase>(kind: Kind<R>, id: string): void {
    this.tx.observe(kind, id, { last_discovery_id: this.input.discovery_id });
  }

  /**
   * Deletes records that discovery found and no longer finds; those that users edited or refer to become stale.
   * Deleting a port or address may already have removed bindings.
   * @param absent additional fields of stale ones
   */
  private removeMissing<R extends DiscoveredRecord>(
    kind: Kind<R>,
    records: Iterable<R>,
    absent: Partial<R> = {},
  ): void {
    for (const { id, first_discovery_id } of records) {
      if ((first_discovery_id ?? null) === null || this.wasSeenByScan(id)) continue;
      const record = this.tx.find(kind, id);
      if (record === null) continue;
      if (isUserEdited(this.tx, kind, record)) {
        // Bindings have no staleness of their own.
        if (kind.code !== bindingKind.code) setStale(this.tx, kind, record, absent);
        this.keepOwn(kind, id);
      } else removeRecord(this.tx, kind, id, true);
    }
  }

  /**
   * True if a scan saw the record after the last self discovery: then self discovery must not delete or describe it,
   * since scans from outside see other things than the kernel reports, in other terms.
   */
  private wasSeenByScan(id: string): boolean {
    const lastDiscoveryId = this.tx.observedOf(id).last_discovery_id ?? null;
    return (
      lastDiscoveryId !== null &&
      lastDiscoveryId !== this.input.discovery_id &&
      this.lastRun !== null &&
      lastDiscoveryId !== this.lastRun
    );
  }

  private counts(): Pick<SelfDiscovered, "created" | "updated" | "deleted"> {
    const counts: Record<NetChange["operation"], Record<string, number>> = { Created: {}, Updated: {}, Deleted: {} };
    for (const { kind, operation } of this.tx.netChanges())
      counts[operation][kind.plural] = (ownValue(counts[operation], kind.plural) ?? 0) + 1;
    return { created: counts.Created, updated: counts.Updated, deleted: counts.Deleted };
  }
}

function portName(port: { number: number; protocol: string }): string {
  return `${port.number}/${port.protocol}`;
}

export const selfCommands = { "discovery.self": markLongRunning(recordSelf) };
export type SelfCommands = CallsOf<typeof selfCommands>;
