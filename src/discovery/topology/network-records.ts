// Link-related records of one network, updated transaction by transaction. Reads only records touched by a transaction.

import type { AnyKind } from "../../db/kind.ts";
import type { ReadConnection } from "../../db/reading/read-connection.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { type IpAddressRecord, ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import type { FactsChange, ShownHost, ShownPort, TopologyAddress } from "./facts.ts";
import { Index } from "./index-of.ts";
import {
  type AddressPart,
  addressPart,
  type HostPart,
  hostPart,
  inPositions,
  type PortPart,
  portPart,
  shownPort,
  storedAmong,
  storedRecords,
} from "./network-facts.ts";

/** Record kinds that links derive from. */
export const WIRING_KINDS: readonly AnyKind[] = [hostKind, ipAddressKind, ifEntryKind];

/** Record numbers by kind code. */
export type Touched = ReadonlyMap<number, readonly number[]>;

/** Changes as of a transaction. */
export interface Revision {
  readonly sequence: number;
  /** True if it may create, end or move a link; false if it only affects display: a speed, a status. */
  readonly isOfWiring: boolean;
  readonly parts: ReadonlyArray<{ readonly code: number; readonly n: number; readonly part: Part | null }>;
}

type Part = AddressPart | HostPart | PortPart;

/** Display-only fields of a node or link, without effect on links. */
const SHOWN_ONLY = new Set([
  "manufacturer",
  "model",
  "management_url",
  "stale_since",
  "speed_bps",
  "oper_status",
  // Derived from fields that are compared anyway.
  "fingerprint",
]);

/** Records per read. */
const STEP_RECORDS = 1_000;

export class NetworkRecords {
  readonly networkN: number;
  private readonly connection: ReadConnection;
  private readonly parts = new Map<number, Map<number, Part>>(WIRING_KINDS.map(({ code }) => [code, new Map()]));
  private readonly hostNs = new Map<string, number>();
  /** Record numbers by host ID. */
  private readonly addressesOf = new Index<string, number>();
  /** By address ID. */
  private readonly ipOf = new Map<string, string>();
  /** Port record numbers by address ID. */
  private readonly portsWith = new Index<string, number>();

  /** Empty until loaded. */
  constructor(connection: ReadConnection, networkN: number) {
    this.connection = connection;
    this.networkN = networkN;
  }

  /** Loads everything as of a transaction, yielding between steps. @returns all facts */
  *load(sequence: number): Generator<void, FactsChange> {
    const touched = new Touching();
    for (const kind of WIRING_KINDS) {
      for (const rows of storedRecords(this.connection, kind, this.networkN, sequence)) {
        for (const [n, record] of rows) this.put(kind.code, n, partOf(kind, record), touched);
        yield;
      }
    }
    return this.changed(touched);
  }

  /** Compares touched records as of a transaction with the known ones. Changes nothing yet. */
  revision(touched: Touched, sequence: number): Revision {
    let isOfWiring = false;
    const parts: Array<Revision["parts"][number]> = [];
    for (const kind of WIRING_KINDS) {
      const { code } = kind;
      const known = this.of(kind);
      for (const [n, part] of this.partsThen(kind, touched.get(code) ?? [], sequence)) {
        const before = known.get(n) ?? null;
        if (Bun.deepEquals(before, part)) continue;
        isOfWiring ||= wiringOf(before) !== wiringOf(part);
        parts.push({ code, n, part });
      }
    }
    return { sequence, isOfWiring, parts };
  }

  /** @returns the facts that changed */
  apply({ parts }: Revision): FactsChange {
    const touched = new Touching();
    for (const { code, n, part } of parts) this.put(code, n, part, touched);
    return this.changed(touched);
  }

  private put(code: number, n: number, part: Part | null, touched: Touching): void {
    const known = this.parts.get(code) as Map<number, Part>;
    const before = known.get(n) ?? null;
    if (part === null) known.delete(n);
    else known.set(n, part);
    if (code === hostKind.code) this.putHost(n, before as HostPart | null, part as HostPart | null, touched);
    else if (code === ipAddressKind.code)
      this.putAddress(n, before as AddressPart | null, part as AddressPart | null, touched);
    else this.putPort(n, before as PortPart | null, part as PortPart | null, touched);
  }

  private putHost(n: number, before: HostPart | null, part: HostPart | null, touched: Touching): void {
    if (before !== null) this.hostNs.delete(before.id);
    if (part !== null) this.hostNs.set(part.id, n);
    for (const each of [before, part]) if (each !== null) touched.hostIds.add(each.id);
  }

  private putAddress(n: number, before: AddressPart | null, part: AddressPart | null, touched: Touching): void {
    if (before !== null) {
      this.addressesOf.remove(before.host_id, n);
      this.ipOf.delete(before.id);
    }
    if (part !== null) {
      this.addressesOf.add(part.host_id, n);
      this.ipOf.set(part.id, part.ip_address);
    }
    for (const each of [before, part]) {
      if (each === null) continue;
      touched.hostIds.add(each.host_id);
      for (const portN of this.portsWith.of(each.id)) touched.portNs.set(portN, null);
    }
  }

  private putPort(n: number, before: PortPart | null, part: PortPart | null, touched: Touching): void {
    for (const [each, change] of [
      [before, "remove"],
      [part, "add"],
    ] as const)
      if (each !== null && each.ip_address_id !== null) this.portsWith[change](each.ip_address_id, n);
    touched.portNs.set(n, before?.id ?? null);
  }

  private changed({ hostIds, portNs }: Touching): FactsChange {
    const hosts = new Map<string, ShownHost | null>();
    for (const id of hostIds) {
      const host = this.of(hostKind).get(this.hostNs.get(id) ?? 0) as HostPart | undefined;
      hosts.set(id, host === undefined ? null : { ...host, addresses: this.addressesAt(id) });
    }
    const ports = new Map<string, { readonly n: number; readonly port: ShownPort } | null>();
    for (const [n, idBefore] of portNs) {
      const part = this.of(ifEntryKind).get(n) as PortPart | undefined;
      if (part !== undefined) ports.set(part.id, { n, port: shownPort(part, this.ipOf) });
      else if (idBefore !== null) ports.set(idBefore, null);
    }
    return { hosts, ports };
  }

  private addressesAt(hostId: string): TopologyAddress[] {
    const addresses = this.of(ipAddressKind) as Map<number, AddressPart>;
    const ns = [...this.addressesOf.of(hostId)].sort((a, b) => a - b);
    return inPositions(ns.map((n) => addresses.get(n) as AddressPart));
  }

  private of({ code }: AnyKind): Map<number, Part> {
    return this.parts.get(code) as Map<number, Part>;
  }

  /** Null for records that did not exist then. */
  private partsThen(kind: AnyKind, ns: readonly number[], sequence: number): Map<number, Part | null> {
    const found = new Map<number, Part | null>(ns.map((n) => [n, null]));
    for (let start = 0; start < ns.length; start += STEP_RECORDS) {
      const step = ns.slice(start, start + STEP_RECORDS);
      for (const [n, record] of storedAmong(this.connection, { kind, networkN: this.networkN, sequence }, step))
        found.set(n, partOf(kind, record));
    }
    return found;
  }
}

function partOf(kind: AnyKind, record: unknown): Part {
  if (kind === hostKind) return hostPart(record as HostRecord);
  return kind === ipAddressKind ? addressPart(record as IpAddressRecord) : portPart(record as IfEntryRecord);
}

function wiringOf(part: Part | null): string {
  return JSON.stringify(part, (name, value: unknown) => (SHOWN_ONLY.has(name) ? undefined : value));
}

class Touching {
  readonly hostIds = new Set<string>();
  /** With their previous IDs. */
  readonly portNs = new Map<number, string | null>();
}
