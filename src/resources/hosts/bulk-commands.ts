// Writer command for atomic bulk host writes: each item creates or updates a host with its children. Processes every
// item before rejecting, so that the error lists every issue.

import type { CommandActor } from "../../access/actor.ts";
import { findReachable } from "../../access/reach.ts";
import { formatInstant } from "../../base/instant.ts";
import { type CallsOf, markLongRunning } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { fromCheckedBytes } from "../checked-bytes.ts";
import { IssueCollector, type ItemPart } from "../issues.ts";
import { assertVirtualizingService } from "../services/virtualizing.ts";
import type { HostBulkItem, HostBulkResult } from "./bulk-body.ts";
import { writeHostChildren } from "./children.ts";
import { addHost, assertNotStale, changeHost } from "./commands.ts";
import { type HostRecord, hostKind } from "./host.ts";
import { writeInterfaces } from "./interfaces.ts";

/**
 * Creates and updates hosts with their addresses, ports, services, interface entries and credential assignments. An
 * item may reference records of earlier items; a virtualizing service and an interface neighbor may belong to any item.
 * @returns the result of each item, in their order
 * @throws DomainError with every issue; entity_reference_invalid, entity_already_exists, entity_stale,
 * entity_access_denied, auth_permission_denied if all issues share that code, else validation_failed
 */
export function writeHosts(
  tx: WriteTransaction,
  input: { items: readonly HostBulkItem[] },
  actor: CommandActor,
): HostBulkResult[] {
  const issues = new IssueCollector();
  const positions = new Map<string, number>();
  const processed: ProcessedItem[] = [];
  const rejectedIds = new Set<string>();
  for (const [position, item] of input.items.entries()) {
    const part = issues.of(item, `/${position}`);
    const firstPosition = item.id === undefined ? undefined : positions.get(item.id);
    if (firstPosition !== undefined) {
      part.note({ path: "/id", message: `is also the id of /${firstPosition}`, value: item.id });
      continue;
    }
    if (item.id !== undefined) positions.set(item.id, position);
    const existing = item.id === undefined ? null : findReachable(tx, hostKind, item.id, actor);
    const isNew = existing === null;
    const host = isNew ? createItemHost(tx, item, actor, part) : updateItemHost(tx, existing, item, actor, part);
    if (host === null) {
      for (const id of referenceableIds(item)) rejectedIds.add(id);
      continue;
    }
    writeHostChildren(tx, { host, isNew, part, rejectedIds }, item, actor);
    processed.push({ item, part, host, isNew });
  }
  for (const { item, part, host } of processed) {
    if (rejectedIds.has(item.virtualization?.details.service_id ?? "")) continue;
    part.attempt(() =>
      assertVirtualizingService(tx, item.virtualization, host.network_id, "virtualization/details/service_id", actor),
    );
  }
  const neighbors = processed.map(({ item, part, host, isNew }) =>
    writeInterfaces(tx, host, item.interfaces, { isNew, rejectedIds }, actor, part),
  );
  for (const set of neighbors) set();
  issues.throwIfAny();
  return resultsOf(tx, processed);
}

/** An item with its host, created or found. */
interface ProcessedItem {
  readonly item: HostBulkItem;
  readonly part: ItemPart;
  readonly host: HostRecord;
  readonly isNew: boolean;
}

/** Ids that other items may reference. */
function referenceableIds(item: HostBulkItem): string[] {
  const parts: Array<{ readonly id?: string }> = [
    item,
    ...(item.ip_addresses ?? []),
    ...(item.services ?? []),
    ...(item.interfaces ?? []),
  ];
  return parts.flatMap(({ id }) => id ?? []);
}

/** @returns null in the cases of addHost */
function createItemHost(
  tx: WriteTransaction,
  item: HostBulkItem,
  actor: CommandActor,
  part: ItemPart,
): HostRecord | null {
  const { expected_updated_at: expected } = item;
  if (expected !== undefined && expected !== null)
    part.note({
      path: "/expected_updated_at",
      message: "requires an existing host: no host has this id",
      value: expected,
    });
  return addHost(tx, item, actor, part);
}

/** @returns null for a host changed since the client read it: the rest of the item is outdated too */
function updateItemHost(
  tx: WriteTransaction,
  host: HostRecord,
  item: HostBulkItem,
  actor: CommandActor,
  part: ItemPart,
): HostRecord | null {
  const isStale = part.attempt(() => assertNotStale(host, item.expected_updated_at)) === null;
  const changed = changeHost(tx, host, item, actor, part);
  return isStale ? null : changed;
}

/** Filled when the transaction is written: only then are the changed hosts and their operations known. */
function resultsOf(tx: WriteTransaction, processed: readonly ProcessedItem[]): HostBulkResult[] {
  const results: HostBulkResult[] = [];
  tx.runAfterWrite(() => {
    const now = formatInstant(tx.instant);
    for (const { host, isNew } of processed) {
      const { id, name, updated_at } = tx.get(hostKind, host.id);
      results.push({
        id,
        name,
        operation: isNew ? "Created" : updated_at === now ? "Updated" : "Unchanged",
        updated_at,
      });
    }
  });
  return results;
}

export const hostBulkCommands = { "host.bulk": markLongRunning(fromCheckedBytes(writeHosts)) };
export type HostBulkCommands = CallsOf<typeof hostBulkCommands>;
