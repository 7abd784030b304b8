// Synchronizes a host's interface entries with the list of a write; children.ts does the same for addresses. Processes
// all items despite errors: notes each issue and leaves the rejection to the caller.

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
  readonly rejectedIds: Set<string>;
}

/**
 * Makes a host's interface entries match a list, by id or else by if_index.
 * @param items null or omitted: unchanged
 * @param part the host in the body; collects the errors
 * @returns a function that sets the neighbors, to run once all interface entries of the write exist: they may reference
 * each other
 */
export function writeInterfaces(
  tx: WriteTransaction,
  host: HostRecord,
  items: readonly IfEntryItem[] | null | undefined,
  { isNew, rejectedIds }: Options,
  actor: CommandActor,
  part: ItemPart,
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
  part.note(...issues);
  for (const { item, position, stored: entry } of matched) {
    const itemPart = part.at(`/interfaces/${position}`);
    itemPart.note(...mismatchedParentIds(item, { host_id: host.id, network_id: host.network_id }, itemPart.pointer));
    itemPart.attempt(() => assertOwnOrganization(item.organization_id, actor));
    const { local, neighbor } = splitNeighbor(withoutAddress(item, rejectedIds));
    const written = itemPart.attempt(() =>
      entry === null
        ? addIfEntry(tx, host, local, actor, itemPart)
        : changeIfEntry(tx, host, entry, local, actor, itemPart),
    );
    if (written === null && item.id !== undefined) rejectedIds.add(item.id);
    if (neighbor === null) continue;
    neighbors.push(() =>
      itemPart.attempt(() => {
        if (rejectedIds.has(neighbor.id)) return;
        assertNeighbor(tx, host, neighbor, itemPart.field("neighbor"), actor);
        if (written !== null) tx.update(ifEntryKind, written.id, { neighbor });
      }),
    );
  }
  for (const { id } of unmatched) removeRecord(tx, ifEntryKind, id, true);
  return () => {
    for (const set of neighbors) set();
  };
}

/** Splits off the neighbor for later: the far end may belong to a later item. Null clears it immediately. */
function splitNeighbor(item: IfEntryItem): {
  local: IfEntryItem;
  neighbor: NonNullable<IfEntryItem["neighbor"]> | null;
} {
  if (item.neighbor === undefined || item.neighbor === null) return { local: item, neighbor: null };
  const { neighbor, ...local } = item;
  return { local, neighbor };
}

function withoutAddress(item: IfEntryItem, rejectedIds: ReadonlySet<string>): IfEntryItem {
  const { ip_address_id, ...rest } = item;
  return typeof ip_address_id === "string" && rejectedIds.has(ip_address_id) ? rest : item;
}
