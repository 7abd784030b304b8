// Writer command for bulk host writes: each item creates or updates a host with its children, all or none. Processes
// every item before rejecting, so that the error lists every issue.

import type { CommandActor } from "../../access/actor.ts";
import { findReachable } from "../../access/reach.ts";
import { formatInstant } from "../../base/instant.ts";
import { type CallsOf, takingLong } from "../../db/writing/command.ts";
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
  const placed: Placed[] = [];
  const absent = new Set<string>();
  for (const [position, item] of input.items.entries()) {
    const whole = issues.of(item, `/${position}`);
    const twin = item.id === undefined ? undefined : positions.get(item.id);
    if (twin !== undefined) {
      whole.note({ path: "/id", message: `is also the id of /${twin}`, value: item.id });
      continue;
    }
    if (item.id !== undefined) positions.set(item.id, position);
    const found = item.id === undefined ? null : findReachable(tx, hostKind, item.id, actor);
    const isNew = found === null;
    const host = isNew ? createdHost(tx, item, actor, whole) : updatedHost(tx, found, item, actor, whole);
    if (host === null) {
      for (const id of broughtBy(item)) absent.add(id);
      continue;
    }
    writeHostChildren(tx, { host, isNew, whole, absent }, item, actor);
    placed.push({ item, whole, host, isNew });
  }
  for (const { item, whole, host } of placed) {
    if (absent.has(item.virtualization?.details.service_id ?? "")) continue;
    whole.attempt(() =>
      assertVirtualizingService(tx, item.virtualization, host.network_id, "virtualization/details/service_id", actor),
    );
  }
  const neighbors = placed.map(({ item, whole, host, isNew }) =>
    writeInterfaces(tx, host, item.interfaces, { isNew, absent }, actor, whole),
  );
  for (const set of neighbors) set();
  issues.throwIfAny();
  return resultsOf(tx, placed);
}

/** An item with its host, created or found. */
interface Placed {
  readonly item: HostBulkItem;
  readonly whole: ItemPart;
  readonly host: HostRecord;
  readonly isNew: boolean;
}

/** Ids that other items may reference. */
function broughtBy(item: HostBulkItem): string[] {
  const parts: Array<{ readonly id?: string }> = [
    item,
    ...(item.ip_addresses ?? []),
    ...(item.services ?? []),
    ...(item.interfaces ?? []),
  ];
  return parts.flatMap(({ id }) => id ?? []);
}

/** @returns null in the cases of addHost */
function createdHost(
  tx: WriteTransaction,
  item: HostBulkItem,
  actor: CommandActor,
  whole: ItemPart,
): HostRecord | null {
  const { expected_updated_at: expected } = item;
  if (expected !== undefined && expected !== null)
    whole.note({
      path: "/expected_updated_at",
      message: "requires an existing host: no host has this id",
      value: expected,
    });
  return addHost(tx, item, actor, whole);
}

/** @returns null for a host changed since the client read it: the rest of the item is outdated too */
function updatedHost(
  tx: WriteTransaction,
  host: HostRecord,
  item: HostBulkItem,
  actor: CommandActor,
  whole: ItemPart,
): HostRecord | null {
  const isStale = whole.attempt(() => assertNotStale(host, item.expected_updated_at)) === null;
  const changed = changeHost(tx, host, item, actor, whole);
  return isStale ? null : changed;
}

/** Filled when the transaction is written: only then are the changed hosts and their operations known. */
function resultsOf(tx: WriteTransaction, placed: readonly Placed[]): HostBulkResult[] {
  const results: HostBulkResult[] = [];
  tx.afterwardsRun(() => {
    const now = formatInstant(tx.instant);
    for (const { host, isNew } of placed) {
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

export const hostBulkCommands = { "host.bulk": takingLong(fromCheckedBytes(writeHosts)) };
export type HostBulkCommands = CallsOf<typeof hostBulkCommands>;
