// Resolution of each interface's far end from a network's announcements. Pure and independent of input order. Claims a
// link only if nothing contradicts it: a wrong link misleads; a missing one is found by the next scan.

import type { Neighbor } from "../../resources/if-entries/more-neighbors.ts";
import type { IdentityClaim } from "./claims.ts";
import type { TopologyHost, TopologyPort } from "./facts.ts";
import { type ClaimGround, WholeNetwork } from "./ground.ts";
import { CLAIM_WEIGHTS, LEAD_MIN, SCORE_MIN } from "./identify.ts";
import { HostPorts, IF_TYPE_LAG } from "./port-matching.ts";
import { PortNameKeys } from "./port-names.ts";

/**
 * Certainty of the far end. Port: its interface. Host: only the device. Contested: the device, but its interface
 * disagrees or is claimed by others too. Beyond: flooded through a switch without the protocol. Unknown: no certain
 * host of the network.
 */
type EndStanding = "Port" | "Host" | "Contested" | "Beyond" | "Unknown";

export interface ResolvedClaim {
  readonly claim: IdentityClaim;
  readonly neighbor: Neighbor | null;
  readonly standing: EndStanding;
  /** The host referred to, even if not at the far end. */
  readonly hostId: string | null;
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
 * hears the near end or nothing. CDP, which other switches flood, counts only if no LLDP from another device is
 * present, and claims an interface only if heard at a single port.
 */
export function resolveNeighbors(
  hosts: readonly TopologyHost[],
  ports: readonly TopologyPort[],
): Map<string, PortResolution> {
  const ground = new WholeNetwork(hosts, ports);
  return new ClaimResolution(ground, ground.claims).run();
}

export class Judged {
  readonly claim: IdentityClaim;
  /** Index of the host that heard it. */
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
  private readonly meantBy = new Map<number, readonly TopologyPort[]>();

  constructor(claim: IdentityClaim, near: number, scores: ReadonlyMap<number, number>) {
    this.claim = claim;
    this.near = near;
    this.scores = scores;
  }

  meant(place: number, ports: HostPorts): readonly TopologyPort[] {
    let meant = this.meantBy.get(place);
    if (meant === undefined) {
      meant = ports.meant(this.claim);
      this.meantBy.set(place, meant);
    }
    return meant;
  }
}

/** Agreement between a claim and what its far interface hears. */
const AGREES = { not: 0, perhaps: 1, host: 2, port: 3 } as const;

/** For a set of claims that is closed: no other claim is heard at, or refers to, the same interfaces. */
export class ClaimResolution {
  readonly judged: Judged[] = [];
  private readonly ground: ClaimGround;
  private readonly hostPorts = new Map<number, HostPorts>();
  private readonly keys = new PortNameKeys();
  private readonly heardAt = new Map<string, Judged[]>();
  /** Claims identified by their own signs alone, by hearing host and target host. */
  private readonly clear = new Map<number, Judged[]>();
  /** All identified claims, by hearing host and target host. */
  private readonly identified = new Map<number, Judged[]>();
  /** Accepted claims, by target interface. */
  private readonly into = new Map<string, Judged[]>();

  /** @param claims in interface order */
  constructor(ground: ClaimGround, claims: Iterable<IdentityClaim>) {
    this.ground = ground;
    for (const claim of claims) {
      const judged = new Judged(claim, ground.placeOf(claim.port.host_id), ground.signs.candidates(claim));
      this.judged.push(judged);
      push(this.heardAt, claim.port.id, judged);
      const { best } = ahead(judged.scores);
      if (best !== null && best !== judged.near) push(this.clear, pairOf(judged.near, best), judged);
    }
  }

  run(): Map<string, PortResolution> {
    for (const judged of this.judged) this.identify(judged);
    for (const judged of this.judged)
      if (judged.host !== null) push(this.identified, pairOf(judged.near, judged.host), judged);
    for (const judged of this.judged) this.aim(judged);
    this.acceptDirect();
    this.acceptFloodable();
    return this.result();
  }

  /** Picks the host clearly ahead, else the one of several equals that has the interface. */
  private identify(judged: Judged): void {
    const totals = new Map(
      [...judged.scores].map(([place, score]) => [
        place,
        score + (place === judged.near ? 0 : this.opposite(judged, place)),
      ]),
    );
    const { best, close } = ahead(totals);
    if (best !== null) {
      if (best === judged.near) judged.isOwn = true;
      else judged.host = best;
      return;
    }
    const [first] = close;
    if (
      first === undefined ||
      !close.every((place) => totals.get(place) === totals.get(first) && this.portsOf(place).length > 0)
    )
      return;
    const [having, ...others] = close.filter((place) => judged.meant(place, this.named(place)).length > 0);
    if (having !== undefined && others.length === 0 && having !== judged.near) judged.host = having;
  }

  /** Weight of the opposite direction: the host hears the near end on the interface of this claim. */
  private opposite(judged: Judged, place: number): number {
    let worth = 0;
    for (const back of this.clear.get(pairOf(place, judged.near)) ?? []) {
      const meant = judged.meant(place, this.named(place));
      if (meant.length > 0 && !meant.includes(back.claim.port)) continue;
      const backMeant = back.meant(judged.near, this.named(judged.near));
      if (backMeant.length === 0) worth = Math.max(worth, CLAIM_WEIGHTS.oppositeHost);
      else if (backMeant.includes(judged.claim.port)) worth = Math.max(worth, CLAIM_WEIGHTS.opposite);
    }
    return worth;
  }

  /** Sets the interface that the port ID matches; without a usable port ID, the one that names this port. */
  private aim(judged: Judged): void {
    const { host, claim, near } = judged;
    if (host === null) return;
    const meant = judged.meant(host, this.named(host));
    const [only] = meant;
    if (meant.length === 1 && only !== undefined) {
      judged.target = only;
      return;
    }
    const naming = (this.identified.get(pairOf(host, near)) ?? []).filter((back) => {
      if (meant.length > 0 && !meant.includes(back.claim.port)) return false;
      const backMeant = back.meant(near, this.named(near));
      return backMeant.length === 1 ? backMeant[0] === claim.port : meant.length > 0 && backMeant.includes(claim.port);
    });
    const named = new Set(naming.map((back) => back.claim.port));
    if (named.size === 1) judged.target = naming[0]?.claim.port ?? null;
  }

  /** LLDP does not pass a switch: the far interface must agree, or hear nothing and have no other claim. */
  private acceptDirect(): void {
    const aimed = this.aimedAt((judged) => !judged.claim.isFloodable);
    for (const [target, incoming] of aimed) {
      const heard = this.heard(target).filter(({ claim }) => !claim.isFloodable);
      if (heard.length > 0) this.acceptAgreeing(incoming, heard);
      else if (target.if_type === IF_TYPE_LAG || portsIn(incoming) === 1) {
        for (const judged of incoming) if (this.isUnchallenged(judged, aimed)) this.accept(judged);
      }
    }
  }

  /** True if only the target, or devices also heard there, claim this port as their far end. */
  private isUnchallenged(judged: Judged, aimed: ReadonlyMap<TopologyPort, readonly Judged[]>): boolean {
    const heard = this.heard(judged.claim.port);
    const others = (aimed.get(judged.claim.port) ?? []).filter(({ claim }) => claim.port !== judged.target);
    return others.every((other) => heard.some((back) => back !== judged && this.agreement(other, back) !== AGREES.not));
  }

  /** Accepts the claims that agree best; none if several agree equally little. */
  private acceptAgreeing(incoming: readonly Judged[], heard: readonly Judged[]): void {
    const agreeing: Record<number, Array<{ readonly judged: Judged; readonly backs: readonly Judged[] }>> = {};
    for (const judged of incoming) {
      const levels = heard.map((back) => this.agreement(judged, back));
      const best = levels.reduce((most, level) => Math.max(most, level), AGREES.not);
      (agreeing[best] ??= []).push({ judged, backs: heard.filter((_, place) => levels[place] === best) });
    }
    const taken = new Set<Judged>();
    for (const { judged, backs } of agreeing[AGREES.port] ?? []) {
      for (const back of backs) {
        this.acceptBoth(judged, back);
        taken.add(back);
      }
    }
    const byHost = agreeing[AGREES.host] ?? [];
    const wanted = new Map<Judged, number>();
    for (const { backs } of byHost) for (const back of backs) wanted.set(back, (wanted.get(back) ?? 0) + 1);
    for (const { judged, backs } of byHost) {
      const [own, ...others] = backs.filter((back) => !taken.has(back) && wanted.get(back) === 1);
      if (own !== undefined && others.length === 0) this.acceptBoth(judged, own);
    }
    const [lone, ...rivals] = agreeing[AGREES.perhaps] ?? [];
    if (lone === undefined || rivals.length > 0 || byHost.length > 0) return;
    const free = lone.backs.filter((back) => !taken.has(back));
    if (free.length === 1 && free[0] !== undefined) this.acceptBoth(lone.judged, free[0]);
    else if (free.length > 1) this.accept(lone.judged);
  }

  /** Compares the claim with what its far interface hears. */
  private agreement({ near, claim }: Judged, back: Judged): number {
    if (back.target === claim.port) return AGREES.port;
    if (back.target !== null) return AGREES.not;
    const meant = back.meant(near, this.named(near));
    if (meant.length > 0 && !meant.includes(claim.port)) return AGREES.not;
    if (back.host === near) return AGREES.host;
    if (back.host !== null || back.isOwn) return AGREES.not;
    return this.ground.signs.score(back.claim, near) >= 0 ? AGREES.perhaps : AGREES.not;
  }

  /** Accepts floodable claims, next to those that cannot be flooded. */
  private acceptFloodable(): void {
    for (const judged of this.judged) {
      if (!judged.claim.isFloodable) continue;
      const direct = this.directAt(judged.claim.port);
      const same = direct.filter(({ host }) => host !== null && host === judged.host);
      const [target, ...others] = new Set(same.map((each) => each.target));
      if (same.length === 0) judged.isBeyond = direct.length > 0;
      else if (target !== null && target !== undefined && others.length === 0) this.accept(judged, target);
      else judged.isHostOnly = true;
    }
    const open = (judged: Judged) =>
      judged.claim.isFloodable && judged.far === null && !judged.isBeyond && !judged.isHostOnly;
    for (const [target, incoming] of this.aimedAt(open)) {
      if (this.directAt(target).length > 0) for (const judged of incoming) judged.isBeyond = true;
    }
    while (this.passOver(this.aimedAt(open)));
    const aimed = this.aimedAt(open);
    for (const [target, incoming] of aimed) {
      const heard = this.heardNear(target);
      const [judged] = incoming;
      // Several interfaces hear it, or it hears several: an unseen switch is in between.
      if (
        incoming.length > 1 ||
        judged === undefined ||
        heard.length > 1 ||
        this.heardNear(judged.claim.port).length > 1
      )
        continue;
      if (heard.length > 0) this.acceptAgreeing(incoming, heard);
      else if (this.isUnchallenged(judged, aimed)) this.accept(judged);
    }
  }

  /**
   * Marks as Beyond the claims that passed through a pair: two interfaces that hear each other, one of which hears and
   * is heard by no other. They share a cable of their own: on a shared segment both would hear the others.
   * @param aimed floodable claims, by target
   * @returns true if any claim was marked
   */
  private passOver(aimed: ReadonlyMap<TopologyPort, readonly Judged[]>): boolean {
    const found: Judged[] = [];
    for (const [target, incoming] of aimed) {
      const alone = incoming.filter(({ claim: { port } }) => {
        const hearers = aimed.get(port) ?? [];
        return this.heardNear(port).length === 1 && hearers.length === 1 && hearers[0]?.claim.port === target;
      });
      const [end, ...others] = alone;
      if (end === undefined || others.length > 0) continue;
      found.push(
        ...incoming.filter((judged) => judged !== end),
        ...this.heardNear(target).filter((judged) => judged.target !== end.claim.port),
      );
    }
    for (const judged of found) judged.isBeyond = true;
    return found.length > 0;
  }

  /** Returns the certain far ends, by LLDP from either side. */
  private directAt(port: TopologyPort): Array<{ readonly host: number | null; readonly target: TopologyPort | null }> {
    const own = this.heard(port).filter(({ claim }) => !claim.isFloodable);
    const others = (this.into.get(port.id) ?? [])
      .filter(({ claim }) => !claim.isFloodable)
      .map(({ near, claim }) => ({ host: near, target: claim.port }));
    return [
      ...own.map(({ host, far }) => ({
        host: far === null ? host : this.ground.placeOf(far.host_id),
        target: far,
      })),
      ...others,
    ];
  }

  private accept(judged: Judged, target = judged.target): void {
    if (target === null || judged.far !== null) return;
    judged.far = target;
    push(this.into, target.id, judged);
  }

  private acceptBoth(judged: Judged, back: Judged): void {
    this.accept(judged);
    this.accept(back, judged.claim.port);
  }

  private result(): Map<string, PortResolution> {
    const resolutions = new Map<string, PortResolution>();
    for (const [id, heard] of this.heardAt) {
      const announced: (Neighbor | null)[] = (heard[0] as Judged).claim.port.announcements.map(() => null);
      const claims = heard.map((judged): ResolvedClaim => {
        const hostId = judged.far?.host_id ?? (judged.host === null ? null : this.ground.idAt(judged.host));
        const resolved = { claim: judged.claim, ...this.farEnd(judged), hostId };
        for (const place of judged.claim.places) announced[place] = resolved.neighbor;
        return resolved;
      });
      const first = claims.find(({ standing }) => standing !== "Beyond");
      resolutions.set(id, { neighbor: first === undefined ? this.namedBy(id) : first.neighbor, announced, claims });
    }
    for (const id of this.into.keys()) {
      const neighbor = resolutions.has(id) ? null : this.namedBy(id);
      if (neighbor !== null) resolutions.set(id, { neighbor, announced: [], claims: [] });
    }
    return resolutions;
  }

  private farEnd({ host, target, far, isBeyond }: Judged): Pick<ResolvedClaim, "neighbor" | "standing"> {
    if (isBeyond) return { neighbor: null, standing: "Beyond" };
    if (far !== null) return { neighbor: { type: "IfEntry", id: far.id }, standing: "Port" };
    if (host === null) return { neighbor: null, standing: "Unknown" };
    return {
      neighbor: { type: "Host", id: this.ground.idAt(host) },
      standing: target === null ? "Host" : "Contested",
    };
  }

  /** Returns the only interface that leads to this one. */
  private namedBy(portId: string): Neighbor | null {
    const ids = new Set((this.into.get(portId) ?? []).map(({ claim }) => claim.port.id));
    const [id] = ids;
    return ids.size === 1 && id !== undefined ? { type: "IfEntry", id } : null;
  }

  private aimedAt(isWanted: (judged: Judged) => boolean): Map<TopologyPort, Judged[]> {
    const aimed = new Map<TopologyPort, Judged[]>();
    for (const judged of this.judged)
      if (judged.target !== null && isWanted(judged)) push(aimed, judged.target, judged);
    return aimed;
  }

  private heard(port: TopologyPort): readonly Judged[] {
    return this.heardAt.get(port.id) ?? [];
  }

  private heardNear(port: TopologyPort): readonly Judged[] {
    return this.heard(port).filter(({ isBeyond }) => !isBeyond);
  }

  private portsOf(place: number): readonly TopologyPort[] {
    return this.ground.portsOf(place);
  }

  private named(place: number): HostPorts {
    let ports = this.hostPorts.get(place);
    if (ports === undefined) {
      ports = HostPorts.of(this.portsOf(place), this.keys);
      this.hostPorts.set(place, ports);
    }
    return ports;
  }
}

/** More than the hosts of any network. */
const PLACES_MAX = 2 ** 26;

/** Key of two hosts by index, in this order. */
export function pairOf(one: number, other: number): number {
  return one * PLACES_MAX + other;
}

/** Returns the host clearly ahead; else those close to the best, or none below the minimum score. */
function ahead(totals: ReadonlyMap<number, number>): {
  readonly best: number | null;
  readonly close: readonly number[];
} {
  let most = Number.NEGATIVE_INFINITY;
  for (const total of totals.values()) if (total > most) most = total;
  if (most < SCORE_MIN) return { best: null, close: [] };
  const close = [...totals].filter(([, total]) => most - total < LEAD_MIN).map(([place]) => place);
  return { best: close.length === 1 ? (close[0] ?? null) : null, close };
}

function portsIn(incoming: readonly Judged[]): number {
  return new Set(incoming.map(({ claim }) => claim.port.id)).size;
}

function push<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
