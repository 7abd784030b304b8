// Contribution of one interface to the network map. Pure.

import type { Announcement } from "../../discovery/topology/announcements.ts";
import type { IdentityClaim } from "../../discovery/topology/claims.ts";
import type { MapHost, MapPort } from "../../discovery/topology/facts.ts";
import type { PortResolution, ResolvedClaim } from "../../discovery/topology/resolve.ts";
import type { Neighbor } from "../../resources/if-entries/more-neighbors.ts";
import type { Addition } from "./cables.ts";
import type { MapNode } from "./map.ts";
import { unknownDeviceNode } from "./nodes.ts";

export interface PortContribution {
  readonly direct: readonly Addition[];
  /** Announcements flooded from devices beyond its neighbor; used only for a device without any other link. */
  readonly beyond: readonly Addition[];
  /** Hosts, each with its address that is announced here as the management address. */
  readonly notes: ReadonlyArray<readonly [hostId: string, address: string]>;
}

/** The network around an interface. */
export interface NetworkContext {
  readonly networkId: string;
  host(id: string): MapHost | undefined;
  port(id: string): MapPort | undefined;
  /** Addresses announced along with a name by devices that are not hosts. */
  addressesNamed(label: string): readonly string[];
}

/** @param resolution of the interface: a stored far end takes precedence, if it is in the network */
export function contributionOf(
  port: MapPort,
  resolution: PortResolution | undefined,
  context: NetworkContext,
): PortContribution {
  return new ContributionBuilder(port, context).read(resolution);
}

/** Layers between a unit and the aggregate of its port. */
const LAYERS_MAX = 3;

type FarEnd = Pick<Addition, "farNode" | "far" | "unknownDevice" | "certainty" | "isOpen">;

class ContributionBuilder {
  private readonly port: MapPort;
  private readonly context: NetworkContext;
  private readonly notes: Array<readonly [string, string]> = [];

  constructor(port: MapPort, context: NetworkContext) {
    this.port = port;
    this.context = context;
  }

  read(resolution: PortResolution | undefined): PortContribution {
    const { port } = this;
    const ownNeighbor = this.inNetwork(port.neighbor) ?? resolution?.neighbor ?? null;
    const claims = resolution?.claims ?? [];
    const near = claims.filter(({ certainty: standing }) => standing !== "Beyond");
    const direct: Addition[] = [];
    const beyond: Addition[] = [];
    const add = (end: FarEnd, claim: IdentityClaim | null, isShared: boolean) => {
      const to = end.certainty === "Beyond" ? beyond : direct;
      to.push(this.addition(end, claim, isShared));
    };
    let isOwnUsed = false;
    for (const resolved of claims) {
      const stored = this.storedOf(resolved.claim);
      const isFirst = !isOwnUsed && resolved === near[0];
      if (isFirst) isOwnUsed = true;
      const to = isFirst ? ownNeighbor : (stored ?? resolved.neighbor);
      this.noteAddress(to, resolved.claim);
      if (to === null && resolved.certainty === "Beyond")
        add({ ...this.announcedEnd(resolved), far: null, certainty: "Beyond", isOpen: false }, resolved.claim, true);
      else add(this.farEnd(to, resolved), resolved.claim, near.length > 1);
    }
    if (!isOwnUsed && ownNeighbor !== null) add(this.farEnd(ownNeighbor, null), null, false);
    // Nothing is shown for a host that does not exist.
    const isShown = this.context.host(port.host_id) !== undefined;
    const visible = (additions: Addition[]) => additions.filter(({ farNode }) => isShown && farNode !== "");
    return { direct: visible(direct), beyond: visible(beyond), notes: this.notes };
  }

  private storedOf(claim: IdentityClaim): Neighbor | null {
    const { ownCount, moreNeighbors } = this.port;
    for (const index of claim.announcementIndexes) {
      const stored = index < ownCount ? null : this.inNetwork(moreNeighbors[index - ownCount] ?? null);
      if (stored !== null) return stored;
    }
    return null;
  }

  /** Null for a neighbor outside the network. */
  private inNetwork(neighbor: Neighbor | null): Neighbor | null {
    if (neighbor === null) return null;
    const { id, type } = neighbor;
    return (type === "Host" ? this.context.host(id) : this.context.port(id)) === undefined ? null : neighbor;
  }

  private farEnd(to: Neighbor | null, resolved: ResolvedClaim | null): FarEnd {
    const far = to?.type === "IfEntry" ? (this.context.port(to.id) ?? null) : null;
    if (far !== null && this.context.host(far.host_id) !== undefined)
      return { far, farNode: far.host_id, unknownDevice: null, certainty: "Interfaces", isOpen: false };
    if (to?.type === "Host") {
      const isOpen = resolved?.certainty !== "Contested";
      return { far: null, farNode: to.id, unknownDevice: null, certainty: "Hosts", isOpen };
    }
    const announcedEnd = resolved === null ? { farNode: "", unknownDevice: null } : this.announcedEnd(resolved);
    return { ...announcedEnd, far: null, certainty: "Announced", isOpen: false };
  }

  private announcedEnd(resolved: ResolvedClaim): { farNode: string; unknownDevice: MapNode | null } {
    const { hostId, certainty: standing } = resolved;
    if (hostId !== null && standing !== "Unknown") return { farNode: hostId, unknownDevice: null };
    const { networkId } = this.context;
    const unknownDevice = unknownDeviceNode(networkId, resolved, (label) => this.context.addressesNamed(label));
    return { farNode: unknownDevice.id, unknownDevice };
  }

  private addition(end: FarEnd, claim: IdentityClaim | null, isShared: boolean): Addition {
    const { port } = this;
    return {
      near: port,
      nearPlace: this.placeOf(port),
      farPlace: end.far === null ? null : this.placeOf(end.far),
      ...end,
      announcedPort: claim?.portIds[0]?.value ?? null,
      isShared,
      evidence: (claim?.announcementIndexes ?? []).map((index) => ({
        node_id: port.host_id,
        if_entry_id: port.id,
        ...(port.announcements[index] as Announcement),
      })),
    };
  }

  /** The aggregate of a member or the port of a unit; null for any other interface. */
  private placeOf(port: MapPort): MapPort | null {
    let place = port;
    for (let layer = 0; layer < LAYERS_MAX; layer += 1) {
      const id = place.parent_id ?? place.lag_id;
      const carrier = id === null ? undefined : this.context.port(id);
      if (carrier === undefined || carrier.host_id !== port.host_id || carrier.id === port.id) break;
      place = carrier;
    }
    return place === port ? null : place;
  }

  private noteAddress(to: Neighbor | null, claim: IdentityClaim): void {
    const hostId = to === null ? null : to.type === "Host" ? to.id : (this.context.port(to.id)?.host_id ?? null);
    const host = hostId === null ? undefined : this.context.host(hostId);
    if (host === undefined) return;
    const ownAddress = claim.addresses.find((address) =>
      host.addresses.some(({ ip_address }) => ip_address === address),
    );
    if (ownAddress !== undefined) this.notes.push([host.id, ownAddress]);
  }
}
