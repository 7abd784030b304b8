// Synchronization of a host's interface entries with the list of a write; children.ts does the same for addresses.
// Processes all items despite errors: notes each issue and leaves the rejection to the caller.

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
  /** Whether the host is new and thus has no stored entries to look up. */
  readonly isNew: boolean;
  /** As in WrittenHost; read by the neighbors once it is complete. */
  readonly absent: Set<string>;
}

/**
 * Makes a host's interface entries match a list, by id or else by if_index.
 * @param items null or omitted: unchanged
 * @param whole the host's place in the body: collects the errors
 * @returns a function that sets the neighbors, to run once all interface entries of the write exist: they may reference
 * each other
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

/** Splits off the neighbor for later: the far end may belong to a later item. Null clears it at once. */
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
