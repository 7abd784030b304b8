// What the records of one network say of its links, carried from transaction to transaction. Reads only what a
// transaction touched.

import type { AnyKind } from "../../db/kind.ts";
import type { ReadConnection } from "../../db/reading/read-connection.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { type IpAddressRecord, ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import type { NetworkFacts, ShownHost, ShownPort } from "./facts.ts";
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

interface Composed {
  readonly facts: { readonly hosts: readonly ShownHost[]; readonly ports: ShownPort[] };
  /** By the id of an address. */
  readonly ipOf: ReadonlyMap<string, string>;
  /** Number of an interface entry → its place among the ports. */
  readonly placeOf: ReadonlyMap<number, number>;
}

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

  /** Null where it has to be composed anew. */
  private composed: Composed | null = null;

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
      this.composed = null;
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
      this.recompose(code, n, part);
    }
  }

  /** As gatherNetworkFacts tells them: to be used before the next revision is applied. */
  facts(): NetworkFacts {
    this.composed ??= this.compose();
    return this.composed.facts;
  }

  /** Most changes are of an interface: the rest stays as it is. */
  private recompose(code: number, n: number, part: Part | null): void {
    const place = code === ifEntryKind.code && part !== null ? this.composed?.placeOf.get(n) : undefined;
    if (place === undefined || this.composed === null) this.composed = null;
    else this.composed.facts.ports[place] = shownPort(part as PortPart, this.composed.ipOf);
  }

  private compose(): Composed {
    const addresses = inOrder(this.of(ipAddressKind)) as AddressPart[];
    const ipOf = new Map(addresses.map(({ id, ip_address }) => [id, ip_address]));
    const byHost = Map.groupBy(addresses, ({ host_id }) => host_id);
    const hosts = (inOrder(this.of(hostKind)) as HostPart[]).map((host) => ({
      ...host,
      addresses: inPositions(byHost.get(host.id)),
    }));
    const entries = this.of(ifEntryKind);
    const ports = (inOrder(entries) as PortPart[]).map((port) => shownPort(port, ipOf));
    const placeOf = new Map([...entries.keys()].sort((a, b) => a - b).map((n, place) => [n, place]));
    return { facts: { hosts, ports }, ipOf, placeOf };
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
