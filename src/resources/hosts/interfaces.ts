// Synchronizes a host's interface entries with the list of a write; children.ts does the same for addresses. Processes
// all items despite errors: notes each issue and leaves the rejection to the caller.

import type { CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization } from "../../access/reach.ts";
import { nonNull } from "../../base/fields.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import {
  addIfEntry,
  assertInterfaceOfHost,
  assertNeighbor,
  changeIfEntry,
  STACKED_FIELDS,
} from "../if-entries/apply.ts";
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
 * @returns a function that sets their references to each other and to those of other hosts, to run once all interface
 * entries of the write exist
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
  const later: Array<() => void> = [];
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
    const { local, references } = splitReferences(withoutAddress(item, rejectedIds));
    const written = itemPart.attempt(() =>
      entry === null
        ? addIfEntry(tx, host, local, actor, itemPart)
        : changeIfEntry(tx, host, entry, local, actor, itemPart),
    );
    if (written === null && item.id !== undefined) rejectedIds.add(item.id);
    const { neighbor } = references;
    if (neighbor !== undefined)
      later.push(() =>
        itemPart.attempt(() => {
          if (rejectedIds.has(neighbor.id)) return;
          assertNeighbor(tx, host, neighbor, itemPart.field("neighbor"), actor);
          if (written !== null) tx.update(ifEntryKind, written.id, { neighbor });
        }),
      );
    for (const field of STACKED_FIELDS) {
      const id = references[field];
      if (id === undefined) continue;
      later.push(() =>
        itemPart.attempt(() => {
          if (rejectedIds.has(id)) return;
          assertInterfaceOfHost(tx, host, id, itemPart.field(field), actor);
          const changes = field === "lag_id" ? { lag_id: id } : { parent_id: id };
          if (written !== null) tx.update(ifEntryKind, written.id, changes);
        }),
      );
    }
  }
  for (const { id } of unmatched) removeRecord(tx, ifEntryKind, id, true);
  return () => {
    for (const set of later) set();
  };
}

/** Splits off references to interface entries, which may belong to a later item. Null clears them immediately. */
function splitReferences(item: IfEntryItem) {
  const { neighbor, lag_id, parent_id } = item;
  const references = nonNull({ neighbor, lag_id, parent_id });
  const local = Object.fromEntries(Object.entries(item).filter(([field]) => !Object.hasOwn(references, field)));
  return { local: local as IfEntryItem, references };
}

function withoutAddress(item: IfEntryItem, rejectedIds: ReadonlySet<string>): IfEntryItem {
  const { ip_address_id, ...rest } = item;
  return typeof ip_address_id === "string" && rejectedIds.has(ip_address_id) ? rest : item;
}
