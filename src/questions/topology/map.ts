// A network as nodes and links, from its records and their announcements. Pure and ordered. One link per cable, with
// both ends as evidence. An announced device that is no host is a node of its own.

import { compareCodePoints, textSortKey } from "../../base/text.ts";
import type { Announcement } from "../../discovery/topology/announcements.ts";
import type { IdentityClaim } from "../../discovery/topology/claims.ts";
import { firstLabel } from "../../discovery/topology/device-names.ts";
import type { NetworkFacts, ShownHost, ShownPort } from "../../discovery/topology/facts.ts";
import { type PortResolution, type ResolvedClaim, resolveNeighbors } from "../../discovery/topology/resolve.ts";
import type { Neighbor } from "../../resources/if-entries/more-neighbors.ts";
import type { OperStatus } from "../../resources/if-entries/vocabulary.ts";

export const NODE_KINDS = ["Known", "Unknown"] as const;
export const LINK_PROTOCOLS = ["Lldp", "Cdp", "Entered"] as const;
/** How well a link is known: both interfaces; the hosts, but not both interfaces; a device that is no host; flooded. */
export const CERTAINTIES = ["Interfaces", "Hosts", "Announced", "Beyond"] as const;

export interface MapNode {
  /** The host's, else made of what the device says of itself. */
  readonly id: string;
  readonly kind: (typeof NODE_KINDS)[number];
  readonly name: string;
  readonly sys_name: string | null;
  readonly chassis_id: string | null;
  readonly manufacturer: string | null;
  readonly model: string | null;
  readonly management_address: string | null;
  readonly stale_since?: string;
}

interface MapEnd {
  readonly node_id: string;
  /** Null if unknown. */
  readonly if_entry: { readonly id: string; readonly name: string; readonly if_index: number } | null;
  /** The interface's name, or how it is announced; null if unknown. */
  readonly port: string | null;
  readonly speed_bps: number | null;
  readonly oper_status: OperStatus | null;
  readonly stale_since?: string;
}

/** An announcement, and where it was heard. */
interface Evidence extends Announcement {
  readonly node_id: string;
  readonly if_entry_id: string;
}

export interface MapLink {
  readonly id: string;
  readonly protocol: (typeof LINK_PROTOCOLS)[number];
  readonly certainty: (typeof CERTAINTIES)[number];
  /** Whether several devices are announced on one interface: a hub, a telephone with a computer behind it. */
  readonly is_shared: boolean;
  readonly ends: readonly [MapEnd, MapEnd];
  /** The lower of both. */
  readonly speed_bps: number | null;
  /** Up where the known ends are, else that of an end that is not. */
  readonly oper_status: OperStatus | null;
  /** Shared by all links between the two nodes. */
  readonly group: string;
  readonly parallel: number;
  readonly evidence: readonly Evidence[];
}

export interface NetworkMap {
  readonly nodes: readonly MapNode[];
  readonly links: readonly MapLink[];
}

/**
 * An entry's own far end wins, else what is announced (resolve.ts).
 * @param includeIsolated also hosts without a link
 */
export function mapOf(networkId: string, facts: NetworkFacts, includeIsolated: boolean): NetworkMap {
  return new Mapping(networkId, facts).run(includeIsolated);
}

interface Cable {
  readonly key: string;
  readonly near: ShownPort;
  far: ShownPort | null;
  readonly farNode: string;
  /** How the far interface is announced. */
  readonly announcedPort: string | null;
  readonly certainty: MapLink["certainty"];
  /** Whether nothing contradicts any interface of the far host. */
  readonly isOpen: boolean;
  isShared: boolean;
  readonly evidence: Evidence[];
}

class Mapping {
  private readonly networkId: string;
  private readonly facts: NetworkFacts;
  private readonly hosts: ReadonlyMap<string, ShownHost>;
  private readonly resolutions: ReadonlyMap<string, PortResolution>;
  /** Those that are far ends: few of all that there are. */
  private readonly ports: ReadonlyMap<string, ShownPort>;
  private readonly cables = new Map<string, Cable>();
  private readonly unknown = new Map<string, MapNode>();
  /** Host → its own address that others announce as its management address. */
  private readonly managedAt = new Map<string, string>();

  constructor(networkId: string, facts: NetworkFacts) {
    this.networkId = networkId;
    this.facts = facts;
    this.hosts = new Map(facts.hosts.map((host) => [host.id, host]));
    this.resolutions = resolveNeighbors(facts.hosts, facts.ports);
    const ends = farEndsIn(facts, this.resolutions);
    this.ports = new Map(facts.ports.flatMap((port) => (ends.has(port.id) ? [[port.id, port]] : [])));
  }

  run(includeIsolated: boolean): NetworkMap {
    const { resolutions } = this;
    const beyond: Array<{ readonly port: ShownPort; readonly resolved: ResolvedClaim }> = [];
    for (const port of this.facts.ports) {
      const resolution = resolutions.get(port.id);
      if (resolution === undefined && port.neighbor === null) continue;
      for (const resolved of this.connect(port, resolution)) beyond.push({ port, resolved });
    }
    this.joinHalves();
    // A device heard only through others is a node too.
    const linked = this.linkedNodes();
    for (const { port, resolved } of beyond) {
      const { farNode } = this.farOf(resolved);
      if (!linked.has(farNode))
        this.add(port, { farNode, far: null, certainty: "Beyond", isOpen: false }, resolved.claim, true);
    }
    return this.drawn(includeIsolated);
  }

  /** Links one interface; returns what is announced there from beyond its neighbor. */
  private connect(port: ShownPort, resolution: PortResolution | undefined): ResolvedClaim[] {
    const own = this.there(port.neighbor) ?? resolution?.neighbor ?? null;
    const claims = resolution?.claims ?? [];
    const direct = claims.filter(({ standing }) => standing !== "Beyond");
    const beyond: ResolvedClaim[] = [];
    let isOwnTaken = false;
    for (const resolved of claims) {
      const stored = this.storedOf(port, resolved.claim);
      const isFirst = !isOwnTaken && resolved === direct[0];
      if (isFirst) isOwnTaken = true;
      const to = isFirst ? own : (stored ?? resolved.neighbor);
      this.noteAddress(to, resolved.claim);
      if (to === null && resolved.standing === "Beyond") beyond.push(resolved);
      else this.add(port, this.farEnd(to, resolved), resolved.claim, direct.length > 1);
    }
    if (!isOwnTaken && own !== null) this.add(port, this.farEnd(own, null), null, false);
    return beyond;
  }

  private storedOf(port: ShownPort, claim: IdentityClaim): Neighbor | null {
    for (const place of claim.places) {
      const stored = place < port.ownCount ? null : this.there(port.moreNeighbors[place - port.ownCount] ?? null);
      if (stored !== null) return stored;
    }
    return null;
  }

  /** Null for a neighbor outside the network. */
  private there(neighbor: Neighbor | null): Neighbor | null {
    if (neighbor === null) return null;
    return (neighbor.type === "Host" ? this.hosts.has(neighbor.id) : this.ports.has(neighbor.id)) ? neighbor : null;
  }

  private farEnd(
    to: Neighbor | null,
    resolved: ResolvedClaim | null,
  ): Pick<Cable, "farNode" | "far" | "certainty" | "isOpen"> {
    const far = to?.type === "IfEntry" ? (this.ports.get(to.id) ?? null) : null;
    if (far !== null && this.hosts.has(far.host_id))
      return { far, farNode: far.host_id, certainty: "Interfaces", isOpen: false };
    if (to?.type === "Host")
      return { far: null, farNode: to.id, certainty: "Hosts", isOpen: resolved?.standing !== "Contested" };
    return {
      far: null,
      farNode: resolved === null ? "" : this.farOf(resolved).farNode,
      certainty: "Announced",
      isOpen: false,
    };
  }

  private farOf({ claim, hostId, standing }: ResolvedClaim): { readonly farNode: string } {
    if (hostId !== null && standing !== "Unknown") return { farNode: hostId };
    const key = identityOf(claim);
    const id = `unknown-${new Bun.CryptoHasher("sha256").update(`${this.networkId} ${key}`).digest("hex").slice(0, 16)}`;
    if (!this.unknown.has(id)) this.unknown.set(id, unknownNode(id, claim));
    return { farNode: id };
  }

  private add(
    near: ShownPort,
    end: Pick<Cable, "farNode" | "far" | "certainty" | "isOpen">,
    claim: IdentityClaim | null,
    isShared: boolean,
  ): void {
    if (end.farNode === "" || !this.hosts.has(near.host_id)) return;
    const ids = end.far === null ? [near.id, end.farNode] : [near.id, end.far.id].sort(compareCodePoints);
    const key = ids.join("--");
    let cable = this.cables.get(key);
    if (cable === undefined) {
      cable = { key, near, ...end, announcedPort: claim?.portIds[0]?.value ?? null, isShared, evidence: [] };
      this.cables.set(key, cable);
    }
    cable.isShared ||= isShared;
    for (const place of claim?.places ?? [])
      cable.evidence.push({
        node_id: near.host_id,
        if_entry_id: near.id,
        ...(near.announcements[place] as Announcement),
      });
  }

  /** Two hosts that each announce the other without naming the interface share one cable where no other is possible. */
  private joinHalves(): void {
    const open = Map.groupBy(
      [...this.cables.values()].filter(
        ({ certainty, near, farNode }) => certainty === "Hosts" && near.host_id !== farNode,
      ),
      ({ near, farNode }) => `${near.host_id} ${farNode}`,
    );
    for (const [pair, [one, ...others]] of open) {
      const [other, ...more] = open.get(pair.split(" ").reverse().join(" ")) ?? [];
      if (
        one === undefined ||
        other === undefined ||
        others.length > 0 ||
        more.length > 0 ||
        !one.isOpen ||
        !other.isOpen
      )
        continue;
      if (one.far !== null || !this.cables.has(one.key) || compareCodePoints(one.key, other.key) > 0) continue;
      one.far = other.near;
      one.isShared ||= other.isShared;
      one.evidence.push(...other.evidence);
      this.cables.delete(other.key);
    }
  }

  private noteAddress(to: Neighbor | null, claim: IdentityClaim): void {
    const hostId = to === null ? null : to.type === "Host" ? to.id : (this.ports.get(to.id)?.host_id ?? null);
    const host = hostId === null ? undefined : this.hosts.get(hostId);
    if (host === undefined || this.managedAt.has(host.id)) return;
    const own = claim.addresses.find((address) => host.addresses.some(({ ip_address }) => ip_address === address));
    if (own !== undefined) this.managedAt.set(host.id, own);
  }

  private linkedNodes(): Set<string> {
    return new Set([...this.cables.values()].flatMap(({ near, farNode }) => [near.host_id, farNode]));
  }

  private drawn(includeIsolated: boolean): NetworkMap {
    const linked = this.linkedNodes();
    const hosts = this.facts.hosts
      .filter(({ id }) => includeIsolated || linked.has(id))
      .map((host) => this.hostNode(host));
    const nodes = inOrder(
      [...hosts, ...[...this.unknown.values()].filter(({ id }) => linked.has(id))],
      ({ name, id }) => textSortKey(name) + id,
    );
    const places = new Map(nodes.map(({ id }, place) => [id, place]));
    const placeOf = (end: MapEnd) => places.get(end.node_id) as number;
    const drafts = [...this.cables.values()].map((cable) => ({ cable, ends: endsOf(cable, placeOf) }));
    const counts = new Map<string, number>();
    for (const { ends } of drafts) counts.set(groupOf(ends), (counts.get(groupOf(ends)) ?? 0) + 1);
    const number = (value: number) => value.toString().padStart(10, "0");
    const sorted = inOrder(
      drafts,
      ({ cable, ends: [one, other] }) =>
        `${number(placeOf(one))} ${number(placeOf(other))} ${number(one.if_entry?.if_index ?? 0)} ${cable.key}`,
    );
    return { nodes, links: sorted.map(({ cable, ends }) => linkOf(cable, ends, counts.get(groupOf(ends)) ?? 1)) };
  }

  private hostNode(host: ShownHost): MapNode {
    const { id, name, sys_name, chassis_id, manufacturer, model, stale_since } = host;
    return {
      id,
      kind: "Known",
      name,
      sys_name,
      chassis_id,
      manufacturer,
      model,
      management_address:
        this.managedAt.get(id) ??
        urlAddress(host) ??
        host.addresses.find(({ ip_address }) => ip_address.includes("."))?.ip_address ??
        host.addresses[0]?.ip_address ??
        null,
      ...(stale_since === null ? {} : { stale_since }),
    };
  }
}

/** The ids of interfaces, and of hosts, that something leads to. */
function farEndsIn({ ports }: NetworkFacts, resolutions: ReadonlyMap<string, PortResolution>): Set<string> {
  const ids = new Set<string>();
  for (const { neighbor, moreNeighbors } of ports) {
    if (neighbor !== null) ids.add(neighbor.id);
    for (const each of moreNeighbors) if (each !== null) ids.add(each.id);
  }
  for (const { neighbor, claims } of resolutions.values()) {
    if (neighbor !== null) ids.add(neighbor.id);
    for (const claim of claims) if (claim.neighbor !== null) ids.add(claim.neighbor.id);
  }
  return ids;
}

/** The address of the management page, if it is the host's own. */
function urlAddress({ management_url: url, addresses }: ShownHost): string | null {
  return url === null
    ? null
    : (addresses.find(
        ({ ip_address }) =>
          url.includes(`//${ip_address}/`) ||
          url.includes(`//${ip_address}:`) ||
          url.includes(`//[${ip_address}]`) ||
          url.endsWith(`//${ip_address}`),
      )?.ip_address ?? null);
}

/** Tells devices that are no hosts apart by name with address or chassis id: many have a default name. */
function identityOf({
  names: [name],
  chassisMac,
  chassisText,
  addresses: [address],
  macs: [mac],
  serials: [serial],
  port,
  places,
}: IdentityClaim): string {
  const rest = address ?? chassisMac ?? chassisText?.text ?? mac ?? serial;
  if (name !== undefined) return `name ${firstLabel(name)} ${rest ?? ""}`;
  const own = chassisMac ?? chassisText?.text ?? address ?? mac ?? serial;
  return own === undefined ? `port ${port.id} ${places[0]}` : `id ${own}`;
}

function unknownNode(id: string, claim: IdentityClaim): MapNode {
  const announcements = claim.places.map((place) => claim.port.announcements[place] as Announcement);
  const first = <Name extends keyof Announcement>(name: Name) =>
    announcements.find((each) => each[name] !== undefined)?.[name];
  const sysName = first("sys_name") ?? null;
  const chassis = first("chassis_id")?.value ?? null;
  return {
    id,
    kind: "Unknown",
    name:
      sysName ??
      first("device_id") ??
      chassis ??
      first("mgmt_addr") ??
      first("address") ??
      claim.portIds[0]?.value ??
      "unknown",
    sys_name: sysName,
    chassis_id: chassis,
    manufacturer: null,
    model: first("platform") ?? null,
    management_address: first("mgmt_addr") ?? first("address") ?? null,
  };
}

function endsOf(
  { near, far, farNode, announcedPort }: Cable,
  placeOf: (end: MapEnd) => number,
): readonly [MapEnd, MapEnd] {
  const one = portEnd(near);
  const other: MapEnd =
    far === null
      ? { node_id: farNode, if_entry: null, port: announcedPort, speed_bps: null, oper_status: null }
      : portEnd(far);
  const order = placeOf(one) - placeOf(other) || (one.if_entry?.if_index ?? 0) - (other.if_entry?.if_index ?? 0);
  return order <= 0 ? [one, other] : [other, one];
}

function portEnd({ id, host_id, if_name, if_descr, if_index, speed_bps, oper_status, stale_since }: ShownPort): MapEnd {
  const name = [if_name, if_descr].find((each) => each !== null && each !== "") ?? String(if_index);
  return {
    node_id: host_id,
    if_entry: { id, name, if_index },
    port: name,
    speed_bps,
    oper_status,
    ...(stale_since === null ? {} : { stale_since }),
  };
}

function linkOf(cable: Cable, ends: readonly [MapEnd, MapEnd], parallel: number): MapLink {
  const speeds = ends.map(({ speed_bps }) => speed_bps).filter((speed) => speed !== null);
  const statuses = ends.map(({ oper_status }) => oper_status).filter((status) => status !== null);
  const { key, evidence, certainty, isShared } = cable;
  return {
    id: key,
    protocol: evidence.some(({ protocol }) => protocol === "Lldp") ? "Lldp" : evidence.length > 0 ? "Cdp" : "Entered",
    certainty,
    is_shared: isShared,
    ends,
    speed_bps: speeds.length === 0 ? null : Math.min(...speeds),
    oper_status: statuses.find((status) => status !== "Up") ?? statuses[0] ?? null,
    group: groupOf(ends),
    parallel,
    evidence,
  };
}

function groupOf([one, other]: readonly [MapEnd, MapEnd]): string {
  return `${one.node_id}--${other.node_id}`;
}

/** By code point; each key is made once. */
function inOrder<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  return items
    .map((item) => ({ item, key: keyOf(item) }))
    .sort((a, b) => compareCodePoints(a.key, b.key))
    .map(({ item }) => item);
}
