// Link-related records of one network, updated transaction by transaction. Reads only records touched by a transaction.

import type { AnyKind } from "../../db/kind.ts";
import type { ReadConnection } from "../../db/reading/read-connection.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { type IpAddressRecord, ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import type { FactsChange, MapHost, MapPort, TopologyAddress } from "./facts.ts";
import { MultiMap } from "./multi-map.ts";
import {
  type AddressPart,
  addressPart,
  type HostPart,
  hostPart,
  mapPort,
  type PortPart,
  portPart,
  sortedByPosition,
  storedByNumbers,
  storedRecords,
} from "./network-facts.ts";

/** Record kinds that links derive from. */
export const LINK_KINDS: readonly AnyKind[] = [hostKind, ipAddressKind, ifEntryKind];

/** Record numbers by kind code. */
export type TouchedNetworkRecords = ReadonlyMap<number, readonly number[]>;

/** Changes as of a transaction. */
export interface Revision {
  readonly sequence: number;
  /** True if it may create, end or move a link; false if it only affects display: a speed, a status. */
  readonly affectsLinks: boolean;
  readonly parts: ReadonlyArray<{ readonly code: number; readonly n: number; readonly part: Part | null }>;
}

type Part = AddressPart | HostPart | PortPart;

/** Display-only fields of a node or link, without effect on links. */
const DISPLAY_ONLY = new Set([
  "manufacturer",
  "model",
  "management_url",
  "device_type",
  "device_type_source",
  "described",
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
  private readonly parts = new Map<number, Map<number, Part>>(LINK_KINDS.map(({ code }) => [code, new Map()]));
  private readonly hostNs = new Map<string, number>();
  /** Record numbers by host ID. */
  private readonly addressesOf = new MultiMap<string, number>();
  /** By address ID. */
  private readonly ipOf = new Map<string, string>();
  /** Port record numbers by address ID. */
  private readonly portsWith = new MultiMap<string, number>();

  /** Empty until loaded. */
  constructor(connection: ReadConnection, networkN: number) {
    this.connection = connection;
    this.networkN = networkN;
  }

  /** Loads everything as of a transaction, yielding between steps. @returns all facts */
  *load(sequence: number): Generator<void, FactsChange> {
    const touched = new TouchedFacts();
    for (const kind of LINK_KINDS) {
      for (const rows of storedRecords(this.connection, kind, this.networkN, sequence)) {
        for (const [n, record] of rows) this.put(kind.code, n, partOf(kind, record), touched);
        yield;
      }
    }
    return this.changed(touched);
  }

  /** Compares touched records as of a transaction with the known ones. Changes nothing yet. */
  revision(touched: TouchedNetworkRecords, sequence: number): Revision {
    let affectsLinks = false;
    const parts: Array<Revision["parts"][number]> = [];
    for (const kind of LINK_KINDS) {
      const { code } = kind;
      const known = this.partsOfKind(kind);
      for (const [n, part] of this.partsAsOf(kind, touched.get(code) ?? [], sequence)) {
        const before = known.get(n) ?? null;
        if (Bun.deepEquals(before, part)) continue;
        affectsLinks ||= linkFieldsOf(before) !== linkFieldsOf(part);
        parts.push({ code, n, part });
      }
    }
    return { sequence, affectsLinks, parts };
  }

  /** @returns the facts that changed */
  apply({ parts }: Revision): FactsChange {
    const touched = new TouchedFacts();
    for (const { code, n, part } of parts) this.put(code, n, part, touched);
    return this.changed(touched);
  }

  private put(code: number, n: number, part: Part | null, touched: TouchedFacts): void {
    const known = this.parts.get(code) as Map<number, Part>;
    const before = known.get(n) ?? null;
    if (part === null) known.delete(n);
    else known.set(n, part);
    if (code === hostKind.code) this.putHost(n, before as HostPart | null, part as HostPart | null, touched);
    else if (code === ipAddressKind.code)
      this.putAddress(n, before as AddressPart | null, part as AddressPart | null, touched);
    else this.putPort(n, before as PortPart | null, part as PortPart | null, touched);
  }

  private putHost(n: number, before: HostPart | null, part: HostPart | null, touched: TouchedFacts): void {
    if (before !== null) this.hostNs.delete(before.id);
    if (part !== null) this.hostNs.set(part.id, n);
    for (const each of [before, part]) if (each !== null) touched.hostIds.add(each.id);
  }

  private putAddress(n: number, before: AddressPart | null, part: AddressPart | null, touched: TouchedFacts): void {
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
      for (const portN of this.portsWith.get(each.id)) touched.portNs.set(portN, null);
    }
  }

  private putPort(n: number, before: PortPart | null, part: PortPart | null, touched: TouchedFacts): void {
    for (const [each, change] of [
      [before, "remove"],
      [part, "add"],
    ] as const)
      if (each !== null && each.ip_address_id !== null) this.portsWith[change](each.ip_address_id, n);
    touched.portNs.set(n, before?.id ?? null);
  }

  private changed({ hostIds, portNs }: TouchedFacts): FactsChange {
    const hosts = new Map<string, MapHost | null>();
    for (const id of hostIds) {
      const host = this.partsOfKind(hostKind).get(this.hostNs.get(id) ?? 0) as HostPart | undefined;
      hosts.set(id, host === undefined ? null : { ...host, addresses: this.addressesAt(id) });
    }
    const ports = new Map<string, { readonly n: number; readonly port: MapPort } | null>();
    for (const [n, idBefore] of portNs) {
      const part = this.partsOfKind(ifEntryKind).get(n) as PortPart | undefined;
      if (part !== undefined) ports.set(part.id, { n, port: mapPort(part, this.ipOf) });
      else if (idBefore !== null) ports.set(idBefore, null);
    }
    return { hosts, ports };
  }

  private addressesAt(hostId: string): TopologyAddress[] {
    const addresses = this.partsOfKind(ipAddressKind) as Map<number, AddressPart>;
    const ns = [...this.addressesOf.get(hostId)].sort((a, b) => a - b);
    return sortedByPosition(ns.map((n) => addresses.get(n) as AddressPart));
  }

  private partsOfKind({ code }: AnyKind): Map<number, Part> {
    return this.parts.get(code) as Map<number, Part>;
  }

  /** Null for records that did not exist then. */
  private partsAsOf(kind: AnyKind, ns: readonly number[], sequence: number): Map<number, Part | null> {
    const found = new Map<number, Part | null>(ns.map((n) => [n, null]));
    for (let start = 0; start < ns.length; start += STEP_RECORDS) {
      const step = ns.slice(start, start + STEP_RECORDS);
      for (const [n, record] of storedByNumbers(this.connection, { kind, networkN: this.networkN, sequence }, step))
        found.set(n, partOf(kind, record));
    }
    return found;
  }
}

function partOf(kind: AnyKind, record: unknown): Part {
  if (kind === hostKind) return hostPart(record as HostRecord);
  return kind === ipAddressKind ? addressPart(record as IpAddressRecord) : portPart(record as IfEntryRecord);
}

function linkFieldsOf(part: Part | null): string {
  return JSON.stringify(part, (name, value: unknown) => (DISPLAY_ONLY.has(name) ? undefined : value));
}

class TouchedFacts {
  readonly hostIds = new Set<string>();
  /** With their previous IDs. */
  readonly portNs = new Map<number, string | null>();
}
