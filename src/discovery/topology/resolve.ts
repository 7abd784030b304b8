// Who is at the other end of each interface, by what is announced in one network. Pure, and the same whatever the order of its input.
// Claims a link only where nothing that is known speaks against it: what it leaves out is found by the next scan, a wrong link misleads.

import type { Neighbor } from "../../resources/if-entries/more-neighbors.ts";
import { claimsOf, type Claim } from "./claims.ts";
import type { HostFact, PortFact } from "./facts.ts";
import { HostIndex, LEAD_MIN, SCORE_MIN, WEIGHTS } from "./identify.ts";
import { HostPorts, IF_TYPE_LAG } from "./port-matching.ts";
import { PortNameKeys } from "./port-names.ts";

/**
 * How far the far end of a claim is known. Port: its interface. Host: the device, whose interface nobody can name. Contested: the device, while its
 * interface says something else, or is claimed by others as well. Beyond: flooded through a switch that takes no part; who announces it is
 * somewhere behind the neighbor. Unknown: no host of the network, or not one for certain.
 */
export type Standing = "Port" | "Host" | "Contested" | "Beyond" | "Unknown";

/** One device that is announced on an interface. */
export interface ResolvedClaim {
  /** What it says of itself; LLDP and CDP of one device are one claim. */
  readonly claim: Claim;
  readonly neighbor: Neighbor | null;
  readonly standing: Standing;
  /** The host that is meant, also where that is not at the other end. */
  readonly hostId: string | null;
}

export interface PortResolution {
  /** That of the first claim that is not from beyond: LLDP before what may be flooded. Without any, the interface that names this one as its far end. */
  readonly neighbor: Neighbor | null;
  /** By announcement. */
  readonly announced: ReadonlyArray<Neighbor | null>;
  /** The first of them that is not from beyond is the entry's own neighbor. */
  readonly claims: readonly ResolvedClaim[];
}

/**
 * Where the links of one network lead, by the ids of its interface entries: of those that announce something, or that others name.
 *
 * A host is meant where its signs add up to clearly more than any other's (identify.ts), the opposite direction included. Its interface is
 * claimed where the port id names exactly one and what that one hears agrees: it hears the near end, or nothing. CDP, which switches flood
 * that do not speak it, counts only where no LLDP is heard from another device, and names an interface only where that is heard at one place.
 */
export function resolveNeighbors(hosts: readonly HostFact[], ports: readonly PortFact[]): Map<string, PortResolution> {
  return new Resolution(hosts, ports).run();
}

/** A claim, and what became of it so far. */
class Judged {
  readonly claim: Claim;
  /** The place of the host that it was heard by. */
  readonly near: number;
  /** What the hosts score that share a sign with it, by place. */
  readonly scores: ReadonlyMap<number, number>;
  /** The place of the host that is meant. */
  host: number | null = null;
  /** Whether it may be the near host itself that is meant. */
  isOwn = false;
  /** The interface that is meant, as far as the claim itself tells. */
  target: PortFact | null = null;
  /** The interface that it leads to, when nothing speaks against it. What others are held against is `target`: this comes to be one by one. */
  far: PortFact | null = null;
  isBeyond = false;
  /** Whether its interface is not to be claimed, whatever it tells. */
  isHostOnly = false;
  private readonly meantBy = new Map<number, readonly PortFact[]>();

  constructor(claim: Claim, near: number, scores: ReadonlyMap<number, number>) {
    this.claim = claim;
    this.near = near;
    this.scores = scores;
  }

  meant(place: number, ports: HostPorts): readonly PortFact[] {
    let meant = this.meantBy.get(place);
    if (meant === undefined) {
      meant = ports.meant(this.claim);
      this.meantBy.set(place, meant);
    }
    return meant;
  }
}

/** How well what an interface hears agrees with who claims to be at its other end. */
const AGREES = { not: 0, perhaps: 1, host: 2, port: 3 } as const;

class Resolution {
  private readonly hosts: readonly HostFact[];
  private readonly hostPlaces = new Map<string, number>();
  private readonly portsOfHost = new Map<number, PortFact[]>();
  private readonly hostPorts = new Map<number, HostPorts>();
  private readonly keys = new PortNameKeys();
  private readonly judged: Judged[] = [];
  private readonly heardAt = new Map<string, Judged[]>();
  private readonly index: HostIndex;
  /** Claims that mean a host by their own signs alone, by hearing host and that one. */
  private readonly clear = new Map<number, Judged[]>();
  /** Claims by hearing host and the one that is meant after all. */
  private readonly identified = new Map<number, Judged[]>();
  /** Accepted claims, by the interface that they lead to. */
  private readonly into = new Map<string, Judged[]>();

  constructor(hosts: readonly HostFact[], ports: readonly PortFact[]) {
    this.hosts = hosts;
    for (const [place, { id }] of hosts.entries()) this.hostPlaces.set(id, place);
    const claims: Claim[] = [];
    for (const port of ports) {
      const place = this.hostPlaces.get(port.host_id);
      if (place === undefined) continue;
      push(this.portsOfHost, place, port);
      if (port.announcements.length > 0) claims.push(...claimsOf(port));
    }
    this.index = new HostIndex(hosts, ports, this.hostPlaces, claims);
    for (const claim of claims) {
      const judged = new Judged(claim, this.hostPlaces.get(claim.port.host_id) as number, this.index.candidates(claim));
      this.judged.push(judged);
      push(this.heardAt, claim.port.id, judged);
      const { best } = ahead(judged.scores);
      if (best !== null && best !== judged.near) push(this.clear, this.pair(judged.near, best), judged);
    }
  }

  run(): Map<string, PortResolution> {
    for (const judged of this.judged) this.identify(judged);
    for (const judged of this.judged)
      if (judged.host !== null) push(this.identified, this.pair(judged.near, judged.host), judged);
    for (const judged of this.judged) this.aim(judged);
    this.acceptDirect();
    this.acceptFloodable();
    return this.result();
  }

  /** Which host is meant: the one that is clearly ahead, or else the one of several alike that has the interface. */
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

  /** What it is worth that a host hears the near end where this claim says that it is. */
  private opposite(judged: Judged, place: number): number {
    let worth = 0;
    for (const back of this.clear.get(this.pair(place, judged.near)) ?? []) {
      const meant = judged.meant(place, this.named(place));
      if (meant.length > 0 && !meant.includes(back.claim.port)) continue;
      const backMeant = back.meant(judged.near, this.named(judged.near));
      if (backMeant.length === 0) worth = Math.max(worth, WEIGHTS.oppositeHost);
      else if (backMeant.includes(judged.claim.port)) worth = Math.max(worth, WEIGHTS.opposite);
    }
    return worth;
  }

  /** Which interface of the host is meant; where its port id does not tell, the one that names this port. */
  private aim(judged: Judged): void {
    const { host, claim, near } = judged;
    if (host === null) return;
    const meant = judged.meant(host, this.named(host));
    const [only] = meant;
    if (meant.length === 1 && only !== undefined) {
      judged.target = only;
      return;
    }
    const naming = (this.identified.get(this.pair(host, near)) ?? []).filter((back) => {
      if (meant.length > 0 && !meant.includes(back.claim.port)) return false;
      const backMeant = back.meant(near, this.named(near));
      return backMeant.length === 1 ? backMeant[0] === claim.port : meant.length > 0 && backMeant.includes(claim.port);
    });
    const named = new Set(naming.map((back) => back.claim.port));
    if (named.size === 1) judged.target = naming[0]?.claim.port ?? null;
  }

  /** LLDP goes no further than the cable: what the far interface hears must agree, or it hears nothing and nobody else claims it. */
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

  /** Whether nobody but the target says that he is at the other end of the port that this was heard at, or only who is heard there as well. */
  private isUnchallenged(judged: Judged, aimed: ReadonlyMap<PortFact, readonly Judged[]>): boolean {
    const heard = this.heard(judged.claim.port);
    const others = (aimed.get(judged.claim.port) ?? []).filter(({ claim }) => claim.port !== judged.target);
    return others.every((other) => heard.some((back) => back !== judged && this.agreement(other, back) !== AGREES.not));
  }

  /** Accepts those that agree best with what the interface hears; of several that agree equally little, none. */
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

  /** What the far interface hears, held against the claim that it is the far interface. */
  private agreement({ near, claim }: Judged, back: Judged): number {
    if (back.target === claim.port) return AGREES.port;
    if (back.target !== null) return AGREES.not;
    const meant = back.meant(near, this.named(near));
    if (meant.length > 0 && !meant.includes(claim.port)) return AGREES.not;
    if (back.host === near) return AGREES.host;
    if (back.host !== null || back.isOwn) return AGREES.not;
    return this.index.score(back.claim, near) >= 0 ? AGREES.perhaps : AGREES.not;
  }

  /** What may have been flooded, beside what cannot have been. */
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
      // Two who hear it, or two that are heard: there is something in between that nobody sees.
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
   * Two that hear each other, of whom one neither hears nor is heard by anybody else, have a cable to themselves: on a shared one both would hear the others. What
   * else the other one hears came through the first, and who else hears it does so through that one.
   * @param aimed what may have been flooded, by its target
   * @returns whether there was any such
   */
  private passOver(aimed: ReadonlyMap<PortFact, readonly Judged[]>): boolean {
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

  /** Who is at the other end of an interface for certain: what LLDP says there, and what it says elsewhere of this interface. */
  private directAt(port: PortFact): Array<{ readonly host: number | null; readonly target: PortFact | null }> {
    const own = this.heard(port).filter(({ claim }) => !claim.isFloodable);
    const others = (this.into.get(port.id) ?? [])
      .filter(({ claim }) => !claim.isFloodable)
      .map(({ near, claim }) => ({ host: near, target: claim.port }));
    return [
      ...own.map(({ host, far }) => ({
        host: far === null ? host : (this.hostPlaces.get(far.host_id) as number),
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
        const hostId = judged.far?.host_id ?? (judged.host === null ? null : (this.hosts[judged.host] as HostFact).id);
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
      neighbor: { type: "Host", id: (this.hosts[host] as HostFact).id },
      standing: target === null ? "Host" : "Contested",
    };
  }

  /** The one interface that leads to this one. */
  private namedBy(portId: string): Neighbor | null {
    const ids = new Set((this.into.get(portId) ?? []).map(({ claim }) => claim.port.id));
    const [id] = ids;
    return ids.size === 1 && id !== undefined ? { type: "IfEntry", id } : null;
  }

  /** The claims that have a target, by it. */
  private aimedAt(isWanted: (judged: Judged) => boolean): Map<PortFact, Judged[]> {
    const aimed = new Map<PortFact, Judged[]>();
    for (const judged of this.judged)
      if (judged.target !== null && isWanted(judged)) push(aimed, judged.target, judged);
    return aimed;
  }

  private heard(port: PortFact): readonly Judged[] {
    return this.heardAt.get(port.id) ?? [];
  }

  /** Without what comes from beyond. */
  private heardNear(port: PortFact): readonly Judged[] {
    return this.heard(port).filter(({ isBeyond }) => !isBeyond);
  }

  private portsOf(place: number): readonly PortFact[] {
    return this.portsOfHost.get(place) ?? [];
  }

  private named(place: number): HostPorts {
    let ports = this.hostPorts.get(place);
    if (ports === undefined) {
      ports = new HostPorts(this.portsOf(place), this.keys);
      this.hostPorts.set(place, ports);
    }
    return ports;
  }

  private pair(one: number, other: number): number {
    return one * this.hosts.length + other;
  }
}

/** The place that is clearly ahead; where none is, those that come close to the best, or nothing where that is too little. */
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
