// What the records of one network say of its links, carried from transaction to transaction. Reads only what a
// transaction touched.

import type { AnyKind } from "../../db/kind.ts";
import type { ReadConnection } from "../../db/reading/read-connection.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { type IpAddressRecord, ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import type { NetworkFacts } from "./facts.ts";
import {
  type AddressPart,
  addressPart,
  type HostPart,
  hostPart,
  inPositions,
  type PortPart,
  portPart,
  storedAmong,
  storedRecords,
} from "./network-facts.ts";

/** What links are made from. */
export const WIRING_KINDS: readonly AnyKind[] = [hostKind, ipAddressKind, ifEntryKind];

/** Records by the code of their kind. */
export type Touched = ReadonlyMap<number, readonly number[]>;

/** What is new as of a transaction. */
export interface Revision {
  readonly sequence: number;
  /** Whether it may make, end or move a link; else it is only shown with one: a speed, a status. */
  readonly isOfWiring: boolean;
  readonly parts: ReadonlyArray<{ readonly code: number; readonly n: number; readonly part: Part | null }>;
}

type Part = AddressPart | HostPart | PortPart;

/** Shown with a node or a link, without a say in whether there is one. */
const SHOWN_ONLY = new Set([
  "manufacturer",
  "model",
  "management_url",
  "stale_since",
  "speed_bps",
  "oper_status",
  // Of what is compared anyway.
  "fingerprint",
]);

/** Records that are read at once. */
const STEP_RECORDS = 1_000;

export class NetworkRecords {
  readonly networkN: number;
  private readonly connection: ReadConnection;
  private readonly parts = new Map<number, Map<number, Part>>(WIRING_KINDS.map(({ code }) => [code, new Map()]));

  /** Empty until it is loaded. */
  constructor(connection: ReadConnection, networkN: number) {
    this.connection = connection;
    this.networkN = networkN;
  }

  /** Everything anew, as of a transaction, yielding between its steps. */
  *load(sequence: number): Generator<void> {
    for (const kind of WIRING_KINDS) {
      const parts = this.of(kind);
      parts.clear();
      for (const rows of storedRecords(this.connection, kind, this.networkN, sequence)) {
        for (const [n, record] of rows) parts.set(n, partOf(kind, record));
        yield;
      }
    }
  }

  /** How touched records differ as of a transaction from what is known of them. Changes nothing yet. */
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

  apply({ parts }: Revision): void {
    for (const { code, n, part } of parts) {
      if (part === null) this.parts.get(code)?.delete(n);
      else this.parts.get(code)?.set(n, part);
    }
  }

  /** As gatherNetworkFacts tells them. */
  facts(): NetworkFacts {
    const addresses = inOrder(this.of(ipAddressKind)) as AddressPart[];
    const ipOf = new Map(addresses.map(({ id, ip_address }) => [id, ip_address]));
    const byHost = Map.groupBy(addresses, ({ host_id }) => host_id);
    return {
      hosts: (inOrder(this.of(hostKind)) as HostPart[]).map((host) => ({
        ...host,
        addresses: inPositions(byHost.get(host.id)),
      })),
      ports: (inOrder(this.of(ifEntryKind)) as PortPart[]).map(({ ip_address_id, ...port }) => ({
        ...port,
        ip_address: ipOf.get(ip_address_id ?? "") ?? null,
      })),
    };
  }

  private of({ code }: AnyKind): Map<number, Part> {
    return this.parts.get(code) as Map<number, Part>;
  }

  /** Null for what was not there then. */
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

/** By number: a record that comes back to a network keeps its own. */
function inOrder(parts: ReadonlyMap<number, Part>): Part[] {
  return [...parts].sort(([a], [b]) => a - b).map(([, part]) => part);
}
