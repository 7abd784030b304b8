// The hosts and interfaces that claims are matched against, updated change by change.

import type { FactsChange, TopologyHost, TopologyPort } from "./facts.ts";
import type { HostLookup } from "./host-lookup.ts";
import { MultiMap } from "./multi-map.ts";
import { SignsOverTime } from "./signs-over-time.ts";

interface LookupChange {
  /** IDs of interfaces added, removed or changed. */
  readonly ports: ReadonlySet<string>;
  /** Indexes of hosts whose interface names may have changed. */
  readonly renamed: ReadonlySet<number>;
  /** Indexes of hosts whose signs changed. */
  readonly signChanges: ReadonlySet<number>;
  /** All signs that these hosts have or had. */
  readonly signs: ReadonlySet<string>;
}

interface OrderedPort {
  readonly n: number;
  readonly port: TopologyPort;
}

export class IncrementalLookup implements HostLookup {
  readonly signs = new SignsOverTime();
  /** Includes removed hosts. */
  private readonly indexById = new Map<string, number>();
  private readonly ids: string[] = [];
  private readonly hosts = new Map<string, TopologyHost>();
  /** By ID, including interfaces of removed hosts. */
  private readonly ports = new Map<string, OrderedPort>();
  private readonly portIds = new MultiMap<string, string>();
  /** By host ID, in record order. */
  private readonly ordered = new Map<string, readonly TopologyPort[]>();

  update(change: FactsChange): LookupChange {
    const ports = new Set<string>();
    const renamed = new Set<string>();
    for (const [id, now] of change.ports) {
      const before = this.ports.get(id);
      // Keep the same object for equal data: interfaces are compared by identity.
      if (before !== undefined && now !== null && hasSameContent(before.port, now.port)) continue;
      ports.add(id);
      const isRenamed = before === undefined || now === null || !hasSameNames(before.port, now.port);
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
        for (const portId of this.portIds.get(id)) ports.add(portId);
      }
      if (host === null) this.hosts.delete(id);
      else this.hosts.set(id, host);
      this.index(id);
    }
    return {
      ports,
      renamed: this.indexesOf(renamed),
      ...this.updateSigns(new Set([...change.hosts.keys(), ...renamed])),
    };
  }

  idAt(index: number): string {
    return this.ids[index] as string;
  }

  indexOf(hostId: string): number {
    return this.indexById.get(hostId) as number;
  }

  portsOf(index: number): readonly TopologyPort[] {
    const hostId = this.idAt(index);
    let ports = this.ordered.get(hostId);
    if (ports === undefined) {
      ports = [...this.portIds.get(hostId)]
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

  private updateSigns(hostIds: ReadonlySet<string>): Omit<LookupChange, "ports" | "renamed"> {
    const signChanges = new Set<number>();
    const signs = new Set<string>();
    for (const id of hostIds) {
      const index = this.indexById.get(id);
      if (index === undefined) continue;
      const found = this.signs.set(index, this.hosts.get(id) ?? null, this.portsOf(index));
      if (found === null) continue;
      signChanges.add(index);
      for (const sign of found) signs.add(sign);
    }
    return { signChanges, signs };
  }

  private index(hostId: string): void {
    if (this.indexById.has(hostId)) return;
    this.indexById.set(hostId, this.ids.length);
    this.ids.push(hostId);
  }

  private indexesOf(hostIds: Iterable<string>): Set<number> {
    return new Set([...hostIds].map((id) => this.indexById.get(id)).filter((index) => index !== undefined));
  }
}

function hasSameContent(a: TopologyPort, b: TopologyPort): boolean {
  return hasSameNames(a, b) && a.ownCount === b.ownCount && Bun.deepEquals(a.announcements, b.announcements);
}

/** Compares every field that an announcement may refer to. */
function hasSameNames(a: TopologyPort, b: TopologyPort): boolean {
  return (
    a.host_id === b.host_id &&
    a.if_index === b.if_index &&
    a.if_descr === b.if_descr &&
    a.if_name === b.if_name &&
    a.if_alias === b.if_alias &&
    a.if_type === b.if_type &&
    a.mac_address === b.mac_address &&
    a.ip_address === b.ip_address
  );
}
