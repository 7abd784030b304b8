// Live records of the product's inventory, kept up to date from its change feed, and the real machine that each host
// represents.

import type { Change } from "../figures/versions.ts";
import { KINDS, type Kind } from "../oracle/expectation.ts";
import type { Subject } from "../site/site.ts";
import type { WorldAppliance } from "./world-appliance.ts";

interface About {
  readonly subjects: Subject[];
  readonly since: number | null;
  /** Null for kinds whose presence is not measured. */
  readonly kind: Kind | null;
  readonly key: string;
}

/** Kinds of records, by the kind's name in the change feed. */
const ENTITY: Readonly<Record<Kind, string>> = {
  interface: "if_entry",
  address: "ip_address",
  vlan: "vlan",
  component: "component",
  host: "host",
};
/** A kind whose presence is not measured. */
const PORT = "port";

export class Ledger {
  private readonly product: WorldAppliance;
  private readonly records = new Map<string, Map<string, any>>(
    [...Object.values(ENTITY), PORT].map((type) => [type, new Map()]),
  );
  private readonly addressIds = new Map<string, Set<string>>();
  /** Latest sightings: machine of each host, host of each machine. */
  private readonly machineOf = new Map<string, string>();
  private readonly hostOf = new Map<string, string>();
  /** Time of the last version of each record, up to the last scan. */
  private readonly versionAt = new Map<string, number>();
  private readonly newVersions = new Map<string, number>();
  private after = 0;

  constructor(product: WorldAppliance) {
    this.product = product;
  }

  /** Reads the changes since the last call. */
  async update(): Promise<Change[]> {
    for (const [identity, at] of this.newVersions) this.versionAt.set(identity, at);
    this.newVersions.clear();
    const { changes, after } = await this.product.changesAfter(this.after);
    this.after = after;
    return changes.map(({ entity_type, operation, changed_fields, transaction, record }): Change => {
      const present = this.records.get(entity_type);
      const before = present?.get(record.id);
      if (operation === "Deleted") present?.delete(record.id);
      else present?.set(record.id, record);
      if (entity_type === "ip_address") this.index(record, operation === "Deleted");
      return {
        type: entity_type,
        operation,
        fields: changed_fields,
        record,
        before,
        id: record.id,
        byScan: transaction.actor.type === "Discovery",
        at: Date.parse(transaction.at),
      };
    });
  }

  /** Host that a sighting of a machine at an address was assigned to; null if none. */
  async hostAt(ip: string, isOwn: (address: any, host: any) => boolean): Promise<string | null> {
    const found = [...(this.addressIds.get(ip) ?? [])].flatMap((id) => this.records.get("ip_address")?.get(id) ?? []);
    const own = found.filter((address) => isOwn(address, this.records.get("host")?.get(address.host_id)));
    if (own.length < 2) return own[0]?.host_id ?? null;
    // If there are several, the one seen last.
    const live = await Promise.all(own.map(({ id }) => this.product.getIfServed(`ip-addresses/${id}`)));
    const newest = live
      .filter((each) => each !== null)
      .sort((a, b) => ((a.last_seen_at ?? "") < (b.last_seen_at ?? "") ? 1 : -1))[0];
    return newest?.host_id ?? null;
  }

  assign(machine: string, host: string): void {
    this.machineOf.set(host, machine);
    this.hostOf.set(machine, host);
  }

  hostOfMachine(machine: string): string | undefined {
    return this.hostOf.get(machine);
  }

  /** A present record. */
  record(kind: Kind, id: string): any {
    return this.records.get(ENTITY[kind])?.get(id);
  }

  /** Present records of a host. */
  partsOf(kind: Kind, host: string): any[] {
    return [...(this.records.get(ENTITY[kind])?.values() ?? [])].filter((each) => each.host_id === host);
  }

  /** Numbers of a host's TCP ports. */
  tcpPortsOf(host: string): number[] {
    const ports = [...(this.records.get(PORT)?.values() ?? [])];
    return ports.filter((each) => each.host_id === host && each.protocol === "Tcp").map(({ number }) => number);
  }

  /** Key of each present record, by the true machine of its host, or by the host if no machine is known for it. */
  keys(kind: Kind): string[] {
    return [...(this.records.get(ENTITY[kind])?.values() ?? [])].map((record) => this.keyOf(kind, record));
  }

  /** Subject of the version; `since` is the time of the record's last version before this scan, null for none. */
  aboutOf({ type, record, before, id, at }: Change): About {
    const kind = KINDS.find((each) => ENTITY[each] === type) ?? null;
    const identity = identityOf(type, record);
    const since = this.versionAt.get(identity) ?? null;
    this.newVersions.set(identity, at);
    const host = type === "host" ? id : record.host_id;
    const machine = this.machineOf.get(host ?? "")?.split(/[#~]/)[0];
    const subjects: Subject[] = [];
    if (machine !== undefined) subjects.push(`device ${machine}`);
    if (machine !== undefined && type === "if_entry") subjects.push(`interface ${machine} ${record.if_name}`);
    if (record.ip_address !== undefined) subjects.push(`ip ${record.ip_address}`);
    if (record.mac_address != null) subjects.push(`mac ${record.mac_address}`);
    if (type === "vlan") subjects.push(`vlan ${record.number}`);
    if (type === "if_entry") subjects.push(...changedMacs(record, before).map((mac) => `mac ${mac}` as const));
    if (type === "host" && machine !== undefined) subjects.push(`announced ${machine}`);
    if (type === "host")
      for (const address of this.records.get("ip_address")?.values() ?? []) {
        if (address.host_id !== id) continue;
        subjects.push(`ip ${address.ip_address}`);
        if (address.mac_address !== null) subjects.push(`mac ${address.mac_address}`);
      }
    return { subjects, since, kind, key: kind === null ? id : this.keyOf(kind, record) };
  }

  private keyOf(kind: Kind, record: any): string {
    if (kind === "vlan") return `${record.number}`;
    if (kind === "host") return this.keyOfHost(record.id);
    const name = {
      interface: record.if_name ?? record.if_descr,
      address: record.ip_address,
      component: record.serial_number,
    };
    return `${this.keyOfHost(record.host_id)}/${name[kind]}`;
  }

  private keyOfHost(host: string): string {
    const machine = this.machineOf.get(host);
    return machine !== undefined && this.hostOf.get(machine) === host ? machine : `host ${host}`;
  }

  private index({ id, ip_address }: any, isDeleted: boolean): void {
    const ids = this.addressIds.get(ip_address) ?? new Set<string>();
    this.addressIds.set(ip_address, ids);
    if (isDeleted) ids.delete(id);
    else ids.add(id);
  }
}

/** A record that returns under a new id counts as the same. */
function identityOf(type: string, record: any): string {
  if (type === "if_entry") return `${type} ${record.host_id} ${record.if_name}`;
  if (type === "ip_address") return `${type} ${record.host_id} ${record.ip_address}`;
  if (type === "vlan") return `${type} ${record.number}`;
  return record.id;
}

/** MAC addresses that a port learned or forgot. */
function changedMacs(record: any, before: any): string[] {
  const [now, then] = [new Set<string>(record.fdb_macs ?? []), new Set<string>(before?.fdb_macs ?? [])];
  return [...now.symmetricDifference(then)];
}
