// Writer command for resolved neighbors, and for the host types derived from them. Skips interface entries whose
// announcements have changed or that a user has overridden.

import type { CommandActor } from "../../access/actor.ts";
import { findReachable, getReferenced } from "../../access/reach.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { isAsStrong } from "../../resources/hosts/device-type.ts";
import { hostKind } from "../../resources/hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { type Neighbor, withFarEnd } from "../../resources/if-entries/more-neighbors.ts";
import { networkKind } from "../../resources/networks/network.ts";
import type { Recorded } from "../sightings.ts";
import { announcementsFingerprint } from "../topology/announcements.ts";
import type { HeardType, NeighborLink } from "../topology/find-links.ts";
import { TYPE_DEFAULTS } from "./device-types.ts";
import { isSetByUser } from "./provenance.ts";
import { mergeReported } from "./reported-fields.ts";
import { type ScanInput, ScanWrite } from "./scan-write.ts";

/**
 * Updates neighbors that differ. Skips deleted entries and far ends, and entries with newer announcements. Keeps manual
 * values, with the scan's value stored as discovered.
 * @throws DomainError entity_reference_invalid if the network was deleted
 */
export function linkNeighbors(
  tx: WriteTransaction,
  input: ScanInput & { readonly links: readonly NeighborLink[]; readonly types?: readonly HeardType[] },
  actor: CommandActor,
): Recorded {
  getReferenced(tx, networkKind, [input.network_id], "network_id", actor);
  const write = new ScanWrite(tx, input, actor);
  for (const link of input.links) {
    const entry = findReachable(tx, ifEntryKind, link.if_entry_id, actor);
    if (entry === null || entry.network_id !== input.network_id || announcementsFingerprint(entry) !== link.fingerprint)
      continue;
    const isValidFarEnd = (to: Neighbor | null) => to === null || isFarEndOf(tx, entry, to);
    const changes = {
      ...neighborChanges(tx, entry, link.neighbor, isValidFarEnd),
      ...moreNeighbors(entry, link.more, isValidFarEnd),
    };
    if (Object.keys(changes).length === 0) continue;
    tx.update(ifEntryKind, entry.id, changes);
    write.recordSeen(entry.host_id, "", "the far ends of its links were resolved");
  }
  for (const { host_id, ...evidence } of input.types ?? []) {
    const host = findReachable(tx, hostKind, host_id, actor);
    if (host === null || host.network_id !== input.network_id || isAsStrong(host, "Services")) continue;
    const changes = mergeReported(host, evidence, null, (field) =>
      isSetByUser(tx, host.id, field, [null, ...Object.values(TYPE_DEFAULTS)]),
    );
    if (Object.keys(changes).length === 0) continue;
    tx.update(hostKind, host.id, changes);
    write.recordSeen(host.id, "", "its neighbors announce its type");
  }
  return { ...write.result(), hosts: [] };
}

function neighborChanges(
  tx: WriteTransaction,
  entry: IfEntryRecord,
  neighbor: Neighbor | null,
  isValidFarEnd: (to: Neighbor | null) => boolean,
): Partial<IfEntryRecord> {
  if (!isValidFarEnd(neighbor)) return {};
  const isManual = () => isSetByUser(tx, entry.id, "neighbor", [null]);
  // A missing or unresolved announcement does not contradict a manual value.
  const reported = neighbor === null && entry.neighbor !== undefined && isManual() ? entry.neighbor : neighbor;
  return mergeReported(entry, { neighbor: reported }, undefined, isManual);
}

/** Returns {} if nothing differs. */
function moreNeighbors(
  { more_neighbors: more }: IfEntryRecord,
  farEnds: NeighborLink["more"],
  isValidFarEnd: (to: Neighbor | null) => boolean,
): Pick<IfEntryRecord, "more_neighbors"> {
  if (more === undefined) return {};
  const linked = more.map((announced, index) => {
    const to = farEnds[index] ?? null;
    return isValidFarEnd(to) ? withFarEnd(announced, to) : announced;
  });
  return Bun.deepEquals(linked, more) ? {} : { more_neighbors: linked };
}

/** True if the far end exists in the same network, on another host. */
function isFarEndOf(tx: WriteTransaction, near: IfEntryRecord, to: Neighbor): boolean {
  if (to.type === "Host") return to.id !== near.host_id && tx.find(hostKind, to.id)?.network_id === near.network_id;
  const far = tx.find(ifEntryKind, to.id);
  return far !== null && far.network_id === near.network_id && far.host_id !== near.host_id;
}
