// What the writer runs to bring the neighbors of interface entries to what was resolved: where the entry still announces what the decision
// rests on, and no person has said otherwise.

import type { CommandActor } from "../../access/actor.ts";
import { findReachable, getReferenced } from "../../access/reach.ts";
import type { WriteTransaction } from "../../db/transaction.ts";
import { hostKind } from "../../resources/hosts/host.ts";
import { ifEntryKind, type IfEntryRecord } from "../../resources/if-entries/if-entry.ts";
import { withFarEnd, type Neighbor } from "../../resources/if-entries/more-neighbors.ts";
import { networkKind } from "../../resources/networks/network.ts";
import { isSetByPerson } from "../reconcile/provenance.ts";
import { ScanWrite, type ScanInput } from "../reconcile/scan-write.ts";
import { mergeTold } from "../reconcile/told-fields.ts";
import type { Recorded } from "../sightings.ts";
import { announcementsFingerprint } from "./announcements.ts";

/** Where one interface entry leads. Plain data: it crosses threads. */
export interface NeighborLink {
  readonly if_entry_id: string;
  /** announcementsFingerprint of the entry as it was when this was decided. */
  readonly fingerprint: string;
  readonly neighbor: Neighbor | null;
  /** Of each of its `more_neighbors`, in their order. */
  readonly more: ReadonlyArray<Neighbor | null>;
}

/**
 * Sets the neighbors that differ. Left alone are entries that are gone or announce something else by now, far ends that are gone, and what a
 * person has set: beside that the scan's value is kept.
 * @throws DomainError entity_reference_invalid for a network that is gone
 */
export function linkNeighbors(
  tx: WriteTransaction,
  input: ScanInput & { readonly links: readonly NeighborLink[] },
  actor: CommandActor,
): Recorded {
  getReferenced(tx, networkKind, [input.network_id], "network_id", actor);
  const write = new ScanWrite(tx, input, actor);
  for (const link of input.links) {
    const entry = findReachable(tx, ifEntryKind, link.if_entry_id, actor);
    if (entry === null || entry.network_id !== input.network_id || announcementsFingerprint(entry) !== link.fingerprint)
      continue;
    const isThere = (to: Neighbor | null) => to === null || isFarEndOf(tx, entry, to);
    const changes = {
      ...neighborChanges(tx, entry, link.neighbor, isThere),
      ...moreNeighbors(entry, link.more, isThere),
    };
    if (Object.keys(changes).length === 0) continue;
    tx.update(ifEntryKind, entry.id, changes);
    write.sawHost(entry.host_id, "", "the far ends of its links were found out");
  }
  return { ...write.result(), hosts: [] };
}

function neighborChanges(
  tx: WriteTransaction,
  entry: IfEntryRecord,
  neighbor: Neighbor | null,
  isThere: (to: Neighbor | null) => boolean,
): Record<string, unknown> {
  if (!isThere(neighbor)) return {};
  const isPersons = () => isSetByPerson(tx, entry.id, "neighbor", [null]);
  // That nothing is announced, or nobody known, says nothing against what a person knows.
  const told = neighbor === null && entry.neighbor !== undefined && isPersons() ? entry.neighbor : neighbor;
  return mergeTold({ ...entry }, { neighbor: told }, undefined, isPersons);
}

/** The entry's `more_neighbors` with their far ends, where these differ. */
function moreNeighbors(
  { more_neighbors: more }: IfEntryRecord,
  farEnds: NeighborLink["more"],
  isThere: (to: Neighbor | null) => boolean,
): Record<string, unknown> {
  if (more === undefined) return {};
  const linked = more.map((announced, place) => {
    const to = farEnds[place] ?? null;
    return isThere(to) ? withFarEnd(announced, to) : announced;
  });
  return Bun.deepEquals(linked, more) ? {} : { more_neighbors: linked };
}

/** Whether it is there, in the same network, and not the near end's own. */
function isFarEndOf(tx: WriteTransaction, near: IfEntryRecord, to: Neighbor): boolean {
  if (to.type === "Host") return to.id !== near.host_id && tx.find(hostKind, to.id)?.network_id === near.network_id;
  const far = tx.find(ifEntryKind, to.id);
  return far !== null && far.network_id === near.network_id && far.host_id !== near.host_id;
}
