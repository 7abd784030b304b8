// Incremental resolveNeighbors, updated change by change. Re-resolves only claims that may affect one another,
// together.

import { claimsOf, type IdentityClaim, macsOf } from "./claims.ts";
import type { FactsChange } from "./facts.ts";
import { GroundOverTime } from "./ground-over-time.ts";
import { keysOf } from "./identify.ts";
import { Index } from "./index-of.ts";
import { ClaimResolution, type PortResolution, pairOf } from "./resolve.ts";

/** A claim with its links to other claims that may affect it. */
interface Held {
  readonly claim: IdentityClaim;
  readonly hostId: string;
  /** Hosts that share a sign. */
  candidates: readonly number[];
  /** The interfaces where it is heard, that it refers to, and that it leads to. */
  portIds: readonly string[];
}

export class ResolutionOverTime {
  private readonly resolutions = new Map<string, PortResolution>();
  private readonly ground = new GroundOverTime();
  private readonly claims = new Map<string, readonly Held[]>();
  private readonly byPort = new Index<string, Held>();
  private readonly bySign = new Index<string, Held>();
  private readonly byCandidate = new Index<number, Held>();
  /** By hearing host and candidate. */
  private readonly byPair = new Index<number, Held>();

  of(portId: string): PortResolution | undefined {
    return this.resolutions.get(portId);
  }

  /** @returns the interfaces whose resolution may have changed */
  revise(change: FactsChange): Set<string> {
    const { ports, renamed, signed, signs } = this.ground.revise(change);
    const concerned = new Set<Held>();
    const concern = (all: Iterable<Held>) => {
      for (const held of all) concerned.add(held);
    };
    for (const id of ports) concern(this.byPort.of(id));
    for (const place of renamed) concern(this.byCandidate.of(place));
    for (const sign of signs) concern(this.bySign.of(sign));
    // Announcements heard at the far end are matched against the host at this end.
    for (const place of [...renamed, ...signed])
      for (const { id } of this.ground.portsOf(place)) concern(this.claims.get(id) ?? []);
    const before = this.together(concerned);
    const touched = new Set(ports);
    for (const { portIds } of before) for (const id of portIds) touched.add(id);
    for (const held of before) this.forget(held);
    const again = new Set<Held>();
    for (const id of ports) this.claims.delete(id);
    for (const held of before) if (!ports.has(held.claim.port.id)) again.add(held);
    for (const id of ports) {
      const port = this.ground.port(id);
      const made = port === undefined ? [] : claimsOf(port).map((claim) => heldOf(claim));
      if (made.length > 0) this.claims.set(id, made);
      for (const held of made) again.add(held);
    }
    for (const held of again) {
      held.candidates = [...this.ground.signs.candidates(held.claim).keys()];
      this.keep(held);
    }
    for (const id of touched) this.resolutions.delete(id);
    for (const id of this.resolve(again)) touched.add(id);
    return touched;
  }

  private resolve(changed: Iterable<Held>): Set<string> {
    const touched = new Set<string>();
    for (let held = this.together(changed); ; ) {
      for (const { portIds } of held) for (const id of portIds) touched.add(id);
      const ordered = this.inOrder(held);
      const resolution = new ClaimResolution(
        this.ground,
        ordered.map(({ claim }) => claim),
      );
      const found = resolution.run();
      for (const [place, { claim, target, far }] of resolution.judged.entries()) {
        const each = ordered[place] as Held;
        this.forget(each);
        each.portIds = [...new Set([claim.port.id, target?.id, far?.id])].filter((id) => id !== undefined);
        this.keep(each);
      }
      const all = this.together(held);
      if (all.size > held.size) {
        held = all;
        continue;
      }
      for (const { portIds } of held) for (const id of portIds) touched.add(id);
      for (const id of touched) this.resolutions.delete(id);
      for (const [id, resolved] of found) this.resolutions.set(id, resolved);
      return touched;
    }
  }

  /** Returns these claims and all claims connected to them, transitively. */
  private together(some: Iterable<Held>): Set<Held> {
    const all = new Set(some);
    // The set grows during iteration.
    for (const { portIds, candidates, hostId } of all) {
      for (const id of portIds) for (const other of this.byPort.of(id)) all.add(other);
      const near = this.ground.placeOf(hostId);
      for (const place of candidates) for (const other of this.byPair.of(pairOf(place, near))) all.add(other);
    }
    return all;
  }

  private inOrder(held: ReadonlySet<Held>): Held[] {
    const ids = [...new Set([...held].map(({ claim }) => claim.port.id))];
    return ids
      .map((id) => ({ id, n: this.ground.orderOf(id) }))
      .sort((a, b) => a.n - b.n)
      .flatMap(({ id }) => this.claims.get(id) ?? []);
  }

  private keep(held: Held): void {
    this.each(held, (index, key) => index.add(key, held));
  }

  private forget(held: Held): void {
    this.each(held, (index, key) => index.remove(key, held));
  }

  private each(held: Held, change: <Key>(index: Index<Key, Held>, key: Key) => void): void {
    for (const id of held.portIds) change(this.byPort, id);
    for (const sign of [...macsOf(held.claim), ...keysOf(held.claim)]) change(this.bySign, sign);
    const near = this.ground.placeOf(held.hostId);
    for (const place of held.candidates) {
      change(this.byCandidate, place);
      change(this.byPair, pairOf(near, place));
    }
  }
}

function heldOf(claim: IdentityClaim): Held {
  return { claim, hostId: claim.port.host_id, candidates: [], portIds: [claim.port.id] };
}
