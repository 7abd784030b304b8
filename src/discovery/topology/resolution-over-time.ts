// Incremental resolveNeighbors, updated change by change. Re-resolves only claims that may affect one another,
// together.

import { claimsOf, type IdentityClaim, macsOf } from "./claims.ts";
import type { FactsChange } from "./facts.ts";
import { keysOf } from "./identify.ts";
import { IncrementalLookup } from "./incremental-lookup.ts";
import { MultiMap } from "./multi-map.ts";
import { ClaimResolution, type PortResolution, pairOf } from "./resolve.ts";

/** A claim with its links to other claims that may affect it. */
interface TrackedClaim {
  readonly claim: IdentityClaim;
  readonly hostId: string;
  /** Hosts that share a sign. */
  candidates: readonly number[];
  /** The interfaces that received it, that it refers to, and that it leads to. */
  portIds: readonly string[];
}

export class ResolutionOverTime {
  private readonly resolutions = new Map<string, PortResolution>();
  private readonly lookup = new IncrementalLookup();
  private readonly claims = new Map<string, readonly TrackedClaim[]>();
  private readonly byPort = new MultiMap<string, TrackedClaim>();
  private readonly bySign = new MultiMap<string, TrackedClaim>();
  private readonly byCandidate = new MultiMap<number, TrackedClaim>();
  /** By receiving host and candidate. */
  private readonly byPair = new MultiMap<number, TrackedClaim>();

  get(portId: string): PortResolution | undefined {
    return this.resolutions.get(portId);
  }

  /** @returns the interfaces whose resolution may have changed */
  update(change: FactsChange): Set<string> {
    const { ports, renamed, signChanges: signed, signs } = this.lookup.update(change);
    const affected = new Set<TrackedClaim>();
    const addAffected = (all: Iterable<TrackedClaim>) => {
      for (const tracked of all) affected.add(tracked);
    };
    for (const id of ports) addAffected(this.byPort.get(id));
    for (const index of renamed) addAffected(this.byCandidate.get(index));
    for (const sign of signs) addAffected(this.bySign.get(sign));
    // Announcements received at the far end are matched against the host at this end.
    for (const index of [...renamed, ...signed])
      for (const { id } of this.lookup.portsOf(index)) addAffected(this.claims.get(id) ?? []);
    const before = this.connected(affected);
    const touched = new Set(ports);
    for (const { portIds } of before) for (const id of portIds) touched.add(id);
    for (const tracked of before) this.untrack(tracked);
    const pending = new Set<TrackedClaim>();
    for (const id of ports) this.claims.delete(id);
    for (const tracked of before) if (!ports.has(tracked.claim.port.id)) pending.add(tracked);
    for (const id of ports) {
      const port = this.lookup.port(id);
      const created = port === undefined ? [] : claimsOf(port).map((claim) => heldOf(claim));
      if (created.length > 0) this.claims.set(id, created);
      for (const tracked of created) pending.add(tracked);
    }
    for (const tracked of pending) {
      tracked.candidates = [...this.lookup.signs.candidates(tracked.claim).keys()];
      this.track(tracked);
    }
    for (const id of touched) this.resolutions.delete(id);
    for (const id of this.resolve(pending)) touched.add(id);
    return touched;
  }

  private resolve(changed: Iterable<TrackedClaim>): Set<string> {
    const touched = new Set<string>();
    for (let tracked = this.connected(changed); ; ) {
      for (const { portIds } of tracked) for (const id of portIds) touched.add(id);
      const ordered = this.sorted(tracked);
      const resolution = new ClaimResolution(
        this.lookup,
        ordered.map(({ claim }) => claim),
      );
      const found = resolution.run();
      for (const [index, { claim, target, far }] of resolution.evaluated.entries()) {
        const forEachIndex = ordered[index] as TrackedClaim;
        this.untrack(forEachIndex);
        forEachIndex.portIds = [...new Set([claim.port.id, target?.id, far?.id])].filter((id) => id !== undefined);
        this.track(forEachIndex);
      }
      const all = this.connected(tracked);
      if (all.size > tracked.size) {
        tracked = all;
        continue;
      }
      for (const { portIds } of tracked) for (const id of portIds) touched.add(id);
      for (const id of touched) this.resolutions.delete(id);
      for (const [id, resolved] of found) this.resolutions.set(id, resolved);
      return touched;
    }
  }

  /** Returns these claims and all claims connected to them, transitively. */
  private connected(start: Iterable<TrackedClaim>): Set<TrackedClaim> {
    const all = new Set(start);
    // The set grows during iteration.
    for (const { portIds, candidates, hostId } of all) {
      for (const id of portIds) for (const other of this.byPort.get(id)) all.add(other);
      const near = this.lookup.indexOf(hostId);
      for (const index of candidates) for (const other of this.byPair.get(pairOf(index, near))) all.add(other);
    }
    return all;
  }

  private sorted(tracked: ReadonlySet<TrackedClaim>): TrackedClaim[] {
    const ids = [...new Set([...tracked].map(({ claim }) => claim.port.id))];
    return ids
      .map((id) => ({ id, n: this.lookup.orderOf(id) }))
      .sort((a, b) => a.n - b.n)
      .flatMap(({ id }) => this.claims.get(id) ?? []);
  }

  private track(tracked: TrackedClaim): void {
    this.forEachIndex(tracked, (index, key) => index.add(key, tracked));
  }

  private untrack(tracked: TrackedClaim): void {
    this.forEachIndex(tracked, (index, key) => index.remove(key, tracked));
  }

  private forEachIndex(
    tracked: TrackedClaim,
    change: <Key>(index: MultiMap<Key, TrackedClaim>, key: Key) => void,
  ): void {
    for (const id of tracked.portIds) change(this.byPort, id);
    for (const sign of [...macsOf(tracked.claim), ...keysOf(tracked.claim)]) change(this.bySign, sign);
    const near = this.lookup.indexOf(tracked.hostId);
    for (const index of tracked.candidates) {
      change(this.byCandidate, index);
      change(this.byPair, pairOf(near, index));
    }
  }
}

function heldOf(claim: IdentityClaim): TrackedClaim {
  return { claim, hostId: claim.port.host_id, candidates: [], portIds: [claim.port.id] };
}
