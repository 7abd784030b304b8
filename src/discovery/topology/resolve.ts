// Resolution of each interface's far end from a network's announcements. Pure and independent of input order. Claims a
// link only if nothing contradicts it: a wrong link misleads; a missing one is found by the next scan.

import { append } from "../../base/multimap.ts";
import type { Neighbor } from "../../resources/if-entries/more-neighbors.ts";
import type { IdentityClaim } from "./claims.ts";
import type { TopologyHost, TopologyPort } from "./facts.ts";
import { type HostLookup, NetworkLookup } from "./host-lookup.ts";
import { CLAIM_WEIGHTS, LEAD_MIN, SCORE_MIN } from "./identify.ts";
import { HostPorts, IF_TYPE_LAG } from "./port-matching.ts";
import { PortNameKeys } from "./port-names.ts";

/**
 * Certainty of the far end. Port: its interface. Host: only the device. Contested: the device, but its interface
 * disagrees or is claimed by others too. Beyond: flooded through a switch without the protocol. Unknown: no certain
 * host of the network.
 */
type EndCertainty = "Port" | "Host" | "Contested" | "Beyond" | "Unknown";

export interface ResolvedClaim {
  readonly claim: IdentityClaim;
  readonly neighbor: Neighbor | null;
  readonly certainty: EndCertainty;
  /** The host referred to, even if not at the far end. */
  readonly hostId: string | null;
  /** True if any host has its name. */
  readonly isNameShared: boolean;
}

export interface PortResolution {
  /**
   * From the first claim not Beyond, LLDP before floodable ones; else the interface that names this one as its far end.
   */
  readonly neighbor: Neighbor | null;
  /** By announcement. */
  readonly announced: ReadonlyArray<Neighbor | null>;
  /** The first claim that is not Beyond is the entry's own neighbor. */
  readonly claims: readonly ResolvedClaim[];
}

/**
 * Resolves all links of a network, by interface entry ID. A claim refers to the host with the clearly highest score
 * (identify.ts), counting the opposite direction. It claims an interface if its port ID matches exactly one, which
 * receives the near end's announcements or none. CDP, which other switches flood, counts only if no LLDP from another
 * device is present, and claims an interface only if received at a single port.
 */
export function resolveNeighbors(
  hosts: readonly TopologyHost[],
  ports: readonly TopologyPort[],
): Map<string, PortResolution> {
  const lookup = new NetworkLookup(hosts, ports);
  return new ClaimResolution(lookup, lookup.claims).run();
}

export class EvaluatedClaim {
  readonly claim: IdentityClaim;
  /** Index of the host that received it. */
  readonly near: number;
  /** Scores of the hosts that share a sign, by index. */
  readonly scores: ReadonlyMap<number, number>;
  /** Index of the host referred to. */
  host: number | null = null;
  /** True if it may refer to the near host itself. */
  isOwn = false;
  /** The interface that the claim itself refers to. */
  target: TopologyPort | null = null;
  /** The accepted interface. Claims are compared by `target`, since `far` is set one by one. */
  far: TopologyPort | null = null;
  isBeyond = false;
  /** True if it may not claim an interface. */
  isHostOnly = false;
  private readonly matchingByHost = new Map<number, readonly TopologyPort[]>();

  constructor(claim: IdentityClaim, near: number, scores: ReadonlyMap<number, number>) {
    this.claim = claim;
    this.near = near;
    this.scores = scores;
  }

  matching(index: number, ports: HostPorts): readonly TopologyPort[] {
    let matching = this.matchingByHost.get(index);
    if (matching === undefined) {
      matching = ports.matching(this.claim);
      this.matchingByHost.set(index, matching);
    }
    return matching;
  }
}

/** Agreement between a claim and the announcements that its far interface receives. */
const AGREEMENT = { not: 0, perhaps: 1, host: 2, port: 3 } as const;

/** For a closed set of claims: no other claim is received at, or refers to, the same interfaces. */
export class ClaimResolution {
  readonly evaluated: EvaluatedClaim[] = [];
  private readonly lookup: HostLookup;
  private readonly hostPorts = new Map<number, HostPorts>();
  private readonly keys = new PortNameKeys();
  private readonly claimsByPort = new Map<string, EvaluatedClaim[]>();
  /** Claims identified by their own signs alone, by receiving host and target host. */
  private readonly clearBySigns = new Map<number, EvaluatedClaim[]>();
  /** All identified claims, by receiving host and target host. */
  private readonly identified = new Map<number, EvaluatedClaim[]>();
  /** Accepted claims, by target interface. */
  private readonly acceptedInto = new Map<string, EvaluatedClaim[]>();

  /** @param claims in interface order */
  constructor(lookup: HostLookup, claims: Iterable<IdentityClaim>) {
    this.lookup = lookup;
    for (const claim of claims) {
      const evaluated = new EvaluatedClaim(claim, lookup.indexOf(claim.port.host_id), lookup.signs.candidates(claim));
      this.evaluated.push(evaluated);
      append(this.claimsByPort, claim.port.id, evaluated);
      const { best } = rank(evaluated.scores);
      if (best !== null && best !== evaluated.near) append(this.clearBySigns, pairOf(evaluated.near, best), evaluated);
    }
  }

  run(): Map<string, PortResolution> {
    for (const evaluated of this.evaluated) this.identify(evaluated);
    for (const evaluated of this.evaluated)
      if (evaluated.host !== null) append(this.identified, pairOf(evaluated.near, evaluated.host), evaluated);
    for (const evaluated of this.evaluated) this.setTarget(evaluated);
    this.acceptDirect();
    this.acceptFloodable();
    return this.result();
  }

  /** Picks the host clearly ahead, else the one of several equals that has the interface. */
  private identify(evaluated: EvaluatedClaim): void {
    const totals = new Map(
      [...evaluated.scores].map(([index, score]) => [
        index,
        score + (index === evaluated.near ? 0 : this.opposite(evaluated, index)),
      ]),
    );
    const { best, close } = rank(totals);
    if (best !== null) {
      if (best === evaluated.near) evaluated.isOwn = true;
      else evaluated.host = best;
      return;
    }
    const [first] = close;
    if (
      first === undefined ||
      !close.every((index) => totals.get(index) === totals.get(first) && this.portsOf(index).length > 0)
    )
      return;
    const [having, ...others] = close.filter((index) => evaluated.matching(index, this.named(index)).length > 0);
    if (having !== undefined && others.length === 0 && having !== evaluated.near) evaluated.host = having;
  }

  /** Weight of the opposite direction: the host receives the near end's announcement on the interface of this claim. */
  private opposite(evaluated: EvaluatedClaim, index: number): number {
    let weight = 0;
    for (const back of this.clearBySigns.get(pairOf(index, evaluated.near)) ?? []) {
      const matching = evaluated.matching(index, this.named(index));
      if (matching.length > 0 && !matching.includes(back.claim.port)) continue;
      const backMatching = back.matching(evaluated.near, this.named(evaluated.near));
      if (backMatching.length === 0) weight = Math.max(weight, CLAIM_WEIGHTS.oppositeHost);
      else if (backMatching.includes(evaluated.claim.port)) weight = Math.max(weight, CLAIM_WEIGHTS.opposite);
    }
    return weight;
  }

  /** Sets the interface that the port ID matches; without a usable port ID, the one that names this port. */
  private setTarget(evaluated: EvaluatedClaim): void {
    const { host, claim, near } = evaluated;
    if (host === null) return;
    const matching = evaluated.matching(host, this.named(host));
    const [single] = matching;
    if (matching.length === 1 && single !== undefined) {
      evaluated.target = single;
      return;
    }
    const naming = (this.identified.get(pairOf(host, near)) ?? []).filter((back) => {
      if (matching.length > 0 && !matching.includes(back.claim.port)) return false;
      const backMatching = back.matching(near, this.named(near));
      return backMatching.length === 1
        ? backMatching[0] === claim.port
        : matching.length > 0 && backMatching.includes(claim.port);
    });
    const named = new Set(naming.map((back) => back.claim.port));
    if (named.size === 1) evaluated.target = naming[0]?.claim.port ?? null;
  }

  /** LLDP does not pass a switch: the far interface must agree, or receive nothing and have no other claim. */
  private acceptDirect(): void {
    const byTarget = this.claimsByTarget((evaluated) => !evaluated.claim.isFloodable);
    for (const [target, incoming] of byTarget) {
      const portClaims = this.portClaims(target).filter(({ claim }) => !claim.isFloodable);
      if (portClaims.length > 0) this.acceptAgreeing(incoming, portClaims);
      else if (target.if_type === IF_TYPE_LAG || portsIn(incoming) === 1) {
        for (const evaluated of incoming) if (this.isUnchallenged(evaluated, byTarget)) this.accept(evaluated);
      }
    }
  }

  /** True if only the target, or devices also received there, claim this port as their far end. */
  private isUnchallenged(
    evaluated: EvaluatedClaim,
    byTarget: ReadonlyMap<TopologyPort, readonly EvaluatedClaim[]>,
  ): boolean {
    const portClaims = this.portClaims(evaluated.claim.port);
    const others = (byTarget.get(evaluated.claim.port) ?? []).filter(({ claim }) => claim.port !== evaluated.target);
    return others.every((other) =>
      portClaims.some((back) => back !== evaluated && this.agreement(other, back) !== AGREEMENT.not),
    );
  }

  /** Accepts the claims that agree best; none if several agree equally little. */
  private acceptAgreeing(incoming: readonly EvaluatedClaim[], portClaims: readonly EvaluatedClaim[]): void {
    const agreeing: Record<
      number,
      Array<{ readonly evaluated: EvaluatedClaim; readonly backs: readonly EvaluatedClaim[] }>
    > = {};
    for (const evaluated of incoming) {
      const levels = portClaims.map((back) => this.agreement(evaluated, back));
      const best = levels.reduce((highest, level) => Math.max(highest, level), AGREEMENT.not);
      (agreeing[best] ??= []).push({ evaluated, backs: portClaims.filter((_, index) => levels[index] === best) });
    }
    const used = new Set<EvaluatedClaim>();
    for (const { evaluated, backs } of agreeing[AGREEMENT.port] ?? []) {
      for (const back of backs) {
        this.acceptBoth(evaluated, back);
        used.add(back);
      }
    }
    const byHost = agreeing[AGREEMENT.host] ?? [];
    const usage = new Map<EvaluatedClaim, number>();
    for (const { backs } of byHost) for (const back of backs) usage.set(back, (usage.get(back) ?? 0) + 1);
    for (const { evaluated, backs } of byHost) {
      const [own, ...others] = backs.filter((back) => !used.has(back) && usage.get(back) === 1);
      if (own !== undefined && others.length === 0) this.acceptBoth(evaluated, own);
    }
    const [soleMatch, ...rivals] = agreeing[AGREEMENT.perhaps] ?? [];
    if (soleMatch === undefined || rivals.length > 0 || byHost.length > 0) return;
    const available = soleMatch.backs.filter((back) => !used.has(back));
    if (available.length === 1 && available[0] !== undefined) this.acceptBoth(soleMatch.evaluated, available[0]);
    else if (available.length > 1) this.accept(soleMatch.evaluated);
  }

  /** Compares the claim with the announcements that its far interface receives. */
  private agreement({ near, claim }: EvaluatedClaim, back: EvaluatedClaim): number {
    if (back.target === claim.port) return AGREEMENT.port;
    if (back.target !== null) return AGREEMENT.not;
    const matching = back.matching(near, this.named(near));
    if (matching.length > 0 && !matching.includes(claim.port)) return AGREEMENT.not;
    if (back.host === near) return AGREEMENT.host;
    if (back.host !== null || back.isOwn) return AGREEMENT.not;
    return this.lookup.signs.score(back.claim, near) >= 0 ? AGREEMENT.perhaps : AGREEMENT.not;
  }

  /** Accepts floodable claims, next to those that cannot be flooded. */
  private acceptFloodable(): void {
    for (const evaluated of this.evaluated) {
      if (!evaluated.claim.isFloodable) continue;
      const direct = this.directAt(evaluated.claim.port);
      const same = direct.filter(({ host }) => host !== null && host === evaluated.host);
      const [target, ...others] = new Set(same.map((each) => each.target));
      if (same.length === 0) evaluated.isBeyond = direct.length > 0;
      else if (target !== null && target !== undefined && others.length === 0) this.accept(evaluated, target);
      else evaluated.isHostOnly = true;
    }
    const isOpen = (evaluated: EvaluatedClaim) =>
      evaluated.claim.isFloodable && evaluated.far === null && !evaluated.isBeyond && !evaluated.isHostOnly;
    for (const [target, incoming] of this.claimsByTarget(isOpen)) {
      if (this.directAt(target).length > 0) for (const evaluated of incoming) evaluated.isBeyond = true;
    }
    while (this.markPassedThrough(this.claimsByTarget(isOpen)));
    const byTarget = this.claimsByTarget(isOpen);
    for (const [target, incoming] of byTarget) {
      const portClaims = this.directClaims(target);
      const [evaluated] = incoming;
      // Several interfaces receive it, or it receives several: an unseen switch is in between.
      if (
        incoming.length > 1 ||
        evaluated === undefined ||
        portClaims.length > 1 ||
        this.directClaims(evaluated.claim.port).length > 1
      )
        continue;
      if (portClaims.length > 0) this.acceptAgreeing(incoming, portClaims);
      else if (this.isUnchallenged(evaluated, byTarget)) this.accept(evaluated);
    }
  }

  /**
   * Marks as Beyond the claims that passed through a pair: two interfaces that receive each other's announcements, one
   * of which exchanges them with no other. They share a dedicated cable: on a shared segment both would receive the
   * others' announcements.
   * @param byTarget floodable claims, by target
   * @returns true if any claim was marked
   */
  private markPassedThrough(byTarget: ReadonlyMap<TopologyPort, readonly EvaluatedClaim[]>): boolean {
    const found: EvaluatedClaim[] = [];
    for (const [target, incoming] of byTarget) {
      const pairs = incoming.filter(({ claim: { port } }) => {
        const receivers = byTarget.get(port) ?? [];
        return this.directClaims(port).length === 1 && receivers.length === 1 && receivers[0]?.claim.port === target;
      });
      const [end, ...others] = pairs;
      if (end === undefined || others.length > 0) continue;
      found.push(
        ...incoming.filter((evaluated) => evaluated !== end),
        ...this.directClaims(target).filter((evaluated) => evaluated.target !== end.claim.port),
      );
    }
    for (const evaluated of found) evaluated.isBeyond = true;
    return found.length > 0;
  }

  /** Returns the certain far ends, by LLDP from either side. */
  private directAt(port: TopologyPort): Array<{ readonly host: number | null; readonly target: TopologyPort | null }> {
    const own = this.portClaims(port).filter(({ claim }) => !claim.isFloodable);
    const others = (this.acceptedInto.get(port.id) ?? [])
      .filter(({ claim }) => !claim.isFloodable)
      .map(({ near, claim }) => ({ host: near, target: claim.port }));
    return [
      ...own.map(({ host, far }) => ({
        host: far === null ? host : this.lookup.indexOf(far.host_id),
        target: far,
      })),
      ...others,
    ];
  }

  private accept(evaluated: EvaluatedClaim, target = evaluated.target): void {
    if (target === null || evaluated.far !== null) return;
    evaluated.far = target;
    append(this.acceptedInto, target.id, evaluated);
  }

  private acceptBoth(evaluated: EvaluatedClaim, back: EvaluatedClaim): void {
    this.accept(evaluated);
    this.accept(back, evaluated.claim.port);
  }

  private result(): Map<string, PortResolution> {
    const resolutions = new Map<string, PortResolution>();
    for (const [id, portClaims] of this.claimsByPort) {
      const announced: (Neighbor | null)[] = (portClaims[0] as EvaluatedClaim).claim.port.announcements.map(() => null);
      const claims = portClaims.map((evaluated): ResolvedClaim => {
        const hostId = evaluated.far?.host_id ?? (evaluated.host === null ? null : this.lookup.idAt(evaluated.host));
        const isNameShared = this.lookup.signs.isNameShared(evaluated.claim);
        const resolved = { claim: evaluated.claim, ...this.farEnd(evaluated), hostId, isNameShared };
        for (const index of evaluated.claim.announcementIndexes) announced[index] = resolved.neighbor;
        return resolved;
      });
      const first = claims.find(({ certainty }) => certainty !== "Beyond");
      resolutions.set(id, { neighbor: first === undefined ? this.leadingTo(id) : first.neighbor, announced, claims });
    }
    for (const id of this.acceptedInto.keys()) {
      const neighbor = resolutions.has(id) ? null : this.leadingTo(id);
      if (neighbor !== null) resolutions.set(id, { neighbor, announced: [], claims: [] });
    }
    return resolutions;
  }

  private farEnd({ host, target, far, isBeyond }: EvaluatedClaim): Pick<ResolvedClaim, "neighbor" | "certainty"> {
    if (isBeyond) return { neighbor: null, certainty: "Beyond" };
    if (far !== null) return { neighbor: { type: "IfEntry", id: far.id }, certainty: "Port" };
    if (host === null) return { neighbor: null, certainty: "Unknown" };
    return {
      neighbor: { type: "Host", id: this.lookup.idAt(host) },
      certainty: target === null ? "Host" : "Contested",
    };
  }

  /** Returns the only interface that leads to this one. */
  private leadingTo(portId: string): Neighbor | null {
    const ids = new Set((this.acceptedInto.get(portId) ?? []).map(({ claim }) => claim.port.id));
    const [id] = ids;
    return ids.size === 1 && id !== undefined ? { type: "IfEntry", id } : null;
  }

  private claimsByTarget(isIncluded: (evaluated: EvaluatedClaim) => boolean): Map<TopologyPort, EvaluatedClaim[]> {
    const byTarget = new Map<TopologyPort, EvaluatedClaim[]>();
    for (const evaluated of this.evaluated)
      if (evaluated.target !== null && isIncluded(evaluated)) append(byTarget, evaluated.target, evaluated);
    return byTarget;
  }

  private portClaims(port: TopologyPort): readonly EvaluatedClaim[] {
    return this.claimsByPort.get(port.id) ?? [];
  }

  private directClaims(port: TopologyPort): readonly EvaluatedClaim[] {
    return this.portClaims(port).filter(({ isBeyond }) => !isBeyond);
  }

  private portsOf(index: number): readonly TopologyPort[] {
    return this.lookup.portsOf(index);
  }

  private named(index: number): HostPorts {
    let ports = this.hostPorts.get(index);
    if (ports === undefined) {
      ports = HostPorts.of(this.portsOf(index), this.keys);
      this.hostPorts.set(index, ports);
    }
    return ports;
  }
}

/** More than the hosts of any network. */
const HOSTS_MAX = 2 ** 26;

/** Key of two hosts by index, in this order. */
export function pairOf(one: number, other: number): number {
  return one * HOSTS_MAX + other;
}

/** Returns the host clearly ahead; else those close to the best, or none below the minimum score. */
function rank(totals: ReadonlyMap<number, number>): {
  readonly best: number | null;
  readonly close: readonly number[];
} {
  let highest = Number.NEGATIVE_INFINITY;
  for (const total of totals.values()) if (total > highest) highest = total;
  if (highest < SCORE_MIN) return { best: null, close: [] };
  const close = [...totals].filter(([, total]) => highest - total < LEAD_MIN).map(([index]) => index);
  return { best: close.length === 1 ? (close[0] ?? null) : null, close };
}

function portsIn(incoming: readonly EvaluatedClaim[]): number {
  return new Set(incoming.map(({ claim }) => claim.port.id)).size;
}
