// What the writer runs for a bulk write of hosts: each item creates or updates a host with all that belongs to it, all
// or none. Goes through every item before it refuses, so that every issue is named.

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
 * item may refer to what an earlier one makes; a host's virtualizing service and an interface's neighbor may be of any
 * item.
 * @returns what became of each item, in their order
 * @throws DomainError with every issue; entity_reference_invalid, entity_already_exists, entity_stale,
 * entity_access_denied, auth_permission_denied where all of them are that, else validation_failed
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

/** An item whose host is there, created or found. */
interface Placed {
  readonly item: HostBulkItem;
  readonly whole: ItemPart;
  readonly host: HostRecord;
  readonly isNew: boolean;
}

/** The ids that other items may name. */
function broughtBy(item: HostBulkItem): string[] {
  const parts: Array<{ readonly id?: string }> = [
    item,
    ...(item.ip_addresses ?? []),
    ...(item.services ?? []),
    ...(item.interfaces ?? []),
  ];
  return parts.flatMap(({ id }) => id ?? []);
}

/** @returns null as addHost does */
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

/** @returns null for one that was changed since the client read it: the rest of the item is as old */
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

/** Complete when the transaction is written: only then it is known which hosts got a version, and for what. */
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
