// The hosts and interfaces that claims are matched against, updated change by change.

import type { FactsChange, TopologyHost, TopologyPort } from "./facts.ts";
import type { ClaimGround } from "./ground.ts";
import { Index } from "./index-of.ts";
import { SignsOverTime } from "./signs-over-time.ts";

interface GroundChange {
  /** IDs of interfaces added, removed or changed. */
  readonly ports: ReadonlySet<string>;
  /** Indexes of hosts whose interface names may have changed. */
  readonly renamed: ReadonlySet<number>;
  /** Indexes of hosts whose signs changed. */
  readonly signed: ReadonlySet<number>;
  /** All signs that these hosts have or had. */
  readonly signs: ReadonlySet<string>;
}

interface OrderedPort {
  readonly n: number;
  readonly port: TopologyPort;
}

export class GroundOverTime implements ClaimGround {
  readonly signs = new SignsOverTime();
  /** Includes removed hosts. */
  private readonly places = new Map<string, number>();
  private readonly ids: string[] = [];
  private readonly hosts = new Map<string, TopologyHost>();
  /** By ID, including interfaces of removed hosts. */
  private readonly ports = new Map<string, OrderedPort>();
  private readonly portIds = new Index<string, string>();
  /** By host ID, in record order. */
  private readonly ordered = new Map<string, readonly TopologyPort[]>();

  revise(change: FactsChange): GroundChange {
    const ports = new Set<string>();
    const renamed = new Set<string>();
    for (const [id, now] of change.ports) {
      const before = this.ports.get(id);
      // Keep the same object for equal data: interfaces are compared by identity.
      if (before !== undefined && now !== null && saysTheSame(before.port, now.port)) continue;
      ports.add(id);
      const isRenamed = before === undefined || now === null || !isCalledTheSame(before.port, now.port);
      for (const each of [before, now]) {
        if (each === undefined || each === null) continue;
        this.ordered.delete(each.port.host_id);
        if (isRenamed) renamed.add(each.port.host_id);
      }
      this.put(id, before, now);
    }
    for (const [id, host] of change.hosts) {
      if ((host === null) === this.hosts.has(id)) {
        renamed.add(id);
        for (const portId of this.portIds.of(id)) ports.add(portId);
      }
      if (host === null) this.hosts.delete(id);
      else this.hosts.set(id, host);
      this.place(id);
    }
    return { ports, renamed: this.placesOf(renamed), ...this.signAll(new Set([...change.hosts.keys(), ...renamed])) };
  }

  idAt(place: number): string {
    return this.ids[place] as string;
  }

  placeOf(hostId: string): number {
    return this.places.get(hostId) as number;
  }

  portsOf(place: number): readonly TopologyPort[] {
    const hostId = this.idAt(place);
    let ports = this.ordered.get(hostId);
    if (ports === undefined) {
      ports = [...this.portIds.of(hostId)]
        .map((id) => this.ports.get(id) as OrderedPort)
        .sort((a, b) => a.n - b.n)
        .map(({ port }) => port);
      this.ordered.set(hostId, ports);
    }
    return ports;
  }

  /** Returns undefined for a missing interface or one of a missing host. */
  port(id: string): TopologyPort | undefined {
    const port = this.ports.get(id)?.port;
    return port !== undefined && this.hosts.has(port.host_id) ? port : undefined;
  }

  /** Only for an existing interface. */
  orderOf(portId: string): number {
    return (this.ports.get(portId) as OrderedPort).n;
  }

  private put(id: string, before: OrderedPort | undefined, now: OrderedPort | null): void {
    if (before !== undefined) this.portIds.remove(before.port.host_id, id);
    if (now === null) this.ports.delete(id);
    else {
      this.ports.set(id, now);
      this.portIds.add(now.port.host_id, id);
    }
  }

  private signAll(hostIds: ReadonlySet<string>): Pick<GroundChange, "signed" | "signs"> {
    const signed = new Set<number>();
    const signs = new Set<string>();
    for (const id of hostIds) {
      const place = this.places.get(id);
      if (place === undefined) continue;
      const found = this.signs.set(place, this.hosts.get(id) ?? null, this.portsOf(place));
      if (found === null) continue;
      signed.add(place);
      for (const sign of found) signs.add(sign);
    }
    return { signed, signs };
  }

  private place(hostId: string): void {
    if (this.places.has(hostId)) return;
    this.places.set(hostId, this.ids.length);
    this.ids.push(hostId);
  }

  private placesOf(hostIds: Iterable<string>): Set<number> {
    return new Set([...hostIds].map((id) => this.places.get(id)).filter((place) => place !== undefined));
  }
}

function saysTheSame(one: TopologyPort, other: TopologyPort): boolean {
  return (
    isCalledTheSame(one, other) &&
    one.ownCount === other.ownCount &&
    Bun.deepEquals(one.announcements, other.announcements)
  );
}

/** Compares every field that an announcement may refer to. */
function isCalledTheSame(one: TopologyPort, other: TopologyPort): boolean {
  return (
    one.host_id === other.host_id &&
    one.if_index === other.if_index &&
    one.if_descr === other.if_descr &&
    one.if_name === other.if_name &&
    one.if_alias === other.if_alias &&
    one.if_type === other.if_type &&
    one.mac_address === other.mac_address &&
    one.ip_address === other.ip_address
  );
}
