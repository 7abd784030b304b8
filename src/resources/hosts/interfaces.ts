// Makes the interface entries of a host match the list of a write, as its addresses are in children.ts.
// Goes through all of them, whatever is refused: what is wrong is noted, and someone else refuses the write.

import type { CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization } from "../../access/reach.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { addIfEntry, assertNeighbor, changeIfEntry } from "../if-entries/apply.ts";
import { type IfEntryItem, type IfEntryRecord, ifEntryKind } from "../if-entries/if-entry.ts";
import { removeRecord } from "../ignored/removal.ts";
import type { ItemPart } from "../issues.ts";
import { match } from "../matching.ts";
import type { HostRecord } from "./host.ts";
import { mismatchedParentIds } from "./new-child.ts";

interface Options {
  /** Whether the host is: then there is nothing to look for. */
  readonly isNew: boolean;
  /** As the write of a host takes it; the neighbors look at it when all of it is there. */
  readonly absent: Set<string>;
}

/**
 * Makes the interface entries of a host those of a list, known by id and else by if_index.
 * @param items null or left out: as they are
 * @param whole the host's place in the body: gets what is wrong
 * @returns sets the neighbors, to be run when every interface entry of the write is there: they may be each other's
 */
export function writeInterfaces(
  tx: WriteTransaction,
  host: HostRecord,
  items: readonly IfEntryItem[] | null | undefined,
  { isNew, absent }: Options,
  actor: CommandActor,
  whole: ItemPart,
): () => void {
  if (items === null || items === undefined) return () => {};
  const neighbors: Array<() => void> = [];
  const stored = isNew ? [] : tx.children(ifEntryKind, "host_n", host.id);
  const { matched, unmatched, issues } = match(
    items,
    stored,
    ({ if_index }: IfEntryItem | IfEntryRecord) => ({ if_index }),
    "/interfaces",
  );
  whole.note(...issues);
  for (const { item, position, stored: entry } of matched) {
    const place = whole.at(`/interfaces/${position}`);
    place.note(...mismatchedParentIds(item, { host_id: host.id, network_id: host.network_id }, place.pointer));
    place.attempt(() => assertOwnOrganization(item.organization_id, actor));
    const { near, neighbor } = withoutNeighbor(withoutAddress(item, absent));
    const written = place.attempt(() =>
      entry === null ? addIfEntry(tx, host, near, actor, place) : changeIfEntry(tx, host, entry, near, actor, place),
    );
    if (written === null && item.id !== undefined) absent.add(item.id);
    if (neighbor === null) continue;
    neighbors.push(() =>
      place.attempt(() => {
        if (absent.has(neighbor.id)) return;
        assertNeighbor(tx, host, neighbor, place.field("neighbor"), actor);
        if (written !== null) tx.update(ifEntryKind, written.id, { neighbor });
      }),
    );
  }
  for (const { id } of unmatched) removeRecord(tx, ifEntryKind, id, true);
  return () => {
    for (const set of neighbors) set();
  };
}

/** The far end may be of a later item, so it waits; null clears it at once. */
function withoutNeighbor(item: IfEntryItem): {
  near: IfEntryItem;
  neighbor: NonNullable<IfEntryItem["neighbor"]> | null;
} {
  if (item.neighbor === undefined || item.neighbor === null) return { near: item, neighbor: null };
  const { neighbor, ...near } = item;
  return { near, neighbor };
}

function withoutAddress(item: IfEntryItem, absent: ReadonlySet<string>): IfEntryItem {
  const { ip_address_id, ...rest } = item;
  return typeof ip_address_id === "string" && absent.has(ip_address_id) ? rest : item;
}
