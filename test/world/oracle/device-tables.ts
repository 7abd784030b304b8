// Expected records of devices that responded to SNMP: the true state at the last complete read of each table.

import type { TableName } from "../site/machines.ts";
import type { Truth } from "../site/truth.ts";
import type { Expectation } from "./expectation.ts";

/** A table needs a second read if it lost more than half of its rows, and at least this many. */
const SHRUNK_BY_MIN = 8;

/** The last known true state of one table of a device. */
interface KnownTable {
  required: ReadonlySet<string>;
  /** No longer present, but the product may wait for confirmation by the next complete read. */
  waiting: ReadonlySet<string>;
}

const KIND_OF: Partial<Record<TableName, string>> = {
  interfaces: "interface",
  addresses: "address",
  vlans: "vlan",
  entity: "component",
};

const NOTHING: KnownTable = { required: new Set(), waiting: new Set() };

export class DeviceTables {
  private readonly tables = new Map<string, KnownTable>();
  /** Devices ever read, with the MAC address of each own address at that time. */
  private readonly macs = new Map<string, ReadonlyMap<string, string | null>>();
  private readonly lastReadAt = new Map<string, number>();
  /** For each address, the last device that reported it as its own, in order of reads. */
  private readonly reporters = new Map<string, Map<string, number>>();
  /** By device, the table that was short in the last read. */
  private readonly short = new Map<string, TableName | null>();
  private reads = 0;
  /** Names of interfaces that are kept because of users' edits, by key of `tables`. */
  private readonly kept = new Map<string, string[]>();

  hasRead(device: string): boolean {
    return this.macs.has(device);
  }

  /** @returns true if a table was short in two consecutive reads: then missing rows look like deleted ones */
  read(truth: Truth): boolean {
    const { device, complete, short } = truth;
    const isConfirmed = short !== null && this.short.get(device) === short;
    this.short.set(device, short);
    this.reads += 1;
    this.lastReadAt.set(device, this.reads);
    this.update(truth, "interfaces", "interface", truth.interfaces, truth.staleRows);
    this.update(
      truth,
      "addresses",
      "address",
      truth.addresses.map(({ ip }) => ip),
    );
    this.update(truth, "vlans", "vlan", truth.vlans.map(String));
    this.update(truth, "entity", "component", truth.serials);
    if (isConfirmed) this.tolerate(device, short);
    if (!complete.has("addresses")) {
      if (!this.macs.has(device)) this.macs.set(device, new Map());
      return isConfirmed;
    }
    this.macs.set(device, new Map(truth.addresses.map(({ ip, mac }) => [ip, mac])));
    for (const { ip } of truth.addresses) {
      const reporters = this.reporters.get(ip) ?? new Map<string, number>();
      this.reporters.set(ip, reporters.set(device, this.reads));
    }
    return isConfirmed;
  }

  /** All rows may be present or not until the next complete read. */
  private tolerate(device: string, table: TableName): void {
    const kind = KIND_OF[table];
    const known = this.tables.get(`${kind} ${device}`);
    if (known !== undefined)
      this.tables.set(`${kind} ${device}`, { required: new Set(), waiting: known.required.union(known.waiting) });
  }

  /** Addresses that devices reported as their own, with their MAC addresses. */
  ownAddresses(): Array<readonly [ip: string, mac: string | null]> {
    return [...this.macs.values()].flatMap((macs) => [...macs]);
  }

  /** Records that a router saw another machine at an address of a device, which may have lost it. */
  seenElsewhere(ip: string, machine: string): void {
    const reporters = this.reporters.get(ip);
    if (reporters !== undefined && !reporters.has(machine)) reporters.set(machine, this.reads);
  }

  /** Records that a user edited an interface, which is then kept. */
  keep(device: string, name: string): void {
    const table = `interface ${device}`;
    this.kept.set(table, [...(this.kept.get(table) ?? []), name]);
  }

  /** Records that a user deleted the host: it is expected again after its next read. */
  forget(device: string): void {
    this.macs.delete(device);
    this.kept.delete(`interface ${device}`);
    for (const kind of ["interface", "address", "vlan", "component"]) this.tables.delete(`${kind} ${device}`);
  }

  expect(
    into: Record<"interface" | "address" | "vlan" | "component" | "host", Expectation>,
    keyOf: (machine: string) => string,
  ): void {
    for (const [name, { required, waiting }] of this.tables) {
      const [kind, device] = name.split(" ") as ["interface" | "address" | "vlan" | "component", string];
      const prefix = kind === "vlan" ? "" : `${keyOf(device)}/`;
      for (const value of required)
        into[kind].add(
          prefix + value,
          kind === "address" && this.isTakenOver(device, value) ? "tolerated" : "required",
        );
      for (const value of waiting) into[kind].add(prefix + value, "tolerated");
    }
    for (const [table, names] of this.kept)
      for (const name of this.tables.has(table) ? names : [])
        into.interface.add(`${keyOf(table.split(" ")[1] ?? "")}/${name}`, "required");
    for (const device of this.macs.keys()) into.host.add(keyOf(device), "required");
  }

  /** Whether another machine with another card was seen at the address later. */
  private isTakenOver(device: string, ip: string): boolean {
    const own = this.reporters.get(ip)?.get(device) ?? 0;
    const mac = this.macs.get(device)?.get(ip) ?? null;
    return [...(this.reporters.get(ip) ?? [])].some(
      ([other, at]) => other !== device && at > own && (this.macs.get(other)?.get(ip) ?? null) !== mac,
    );
  }

  private update(
    { device, complete, isRestarted }: Truth,
    table: TableName,
    kind: string,
    values: readonly string[],
    staleRows: readonly string[] = [],
  ): void {
    const name = `${kind} ${device}`;
    if (!complete.has(table)) return;
    const before = this.tables.get(name) ?? NOTHING;
    const required = new Set(values);
    const gone = [...before.required].filter((value) => !required.has(value));
    const mayWait = isRestarted || isShrunk(before.required.size, required.size);
    this.tables.set(name, { required, waiting: new Set(mayWait ? [...gone, ...staleRows] : staleRows) });
  }
}

function isShrunk(before: number, now: number): boolean {
  return now < before / 2 && before - now >= SHRUNK_BY_MIN;
}
