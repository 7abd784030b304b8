// What the writer runs for a bulk write of hosts: each item creates or updates a host with all that belongs to it, all or none.
// Goes through every item before it refuses, so that every offender is named.

import type { CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization, assertSameIds, findReachable, getReferenced } from "../../access/reach.ts";
import { formatInstant } from "../../base/instant.ts";
import type { WriteTransaction } from "../../db/transaction.ts";
import { setHostAssignments } from "../credential-assignments/assignments.ts";
import { foreignIds } from "../host-children.ts";
import { addIfEntry, changeIfEntry, referenceChecks } from "../if-entries/describe.ts";
import { ifEntryKind, type IfEntryItem, type IfEntryRecord } from "../if-entries/if-entry.ts";
import { match } from "../matching.ts";
import { networkKind } from "../networks/network.ts";
import { Offenders } from "../offenders.ts";
import { removeRecord } from "../references.ts";
import { assertVirtualizingService } from "../services/virtualizing.ts";
import { existingTags } from "../tags/tag.ts";
import type { HostBulkItem, HostBulkResult } from "./bulk-body.ts";
import { syncChildren } from "./children.ts";
import { addHost, assertNotStale, changeHost } from "./commands.ts";
import { hostKind, type HostRecord } from "./host.ts";

/**
 * Creates and updates hosts with their addresses, ports, services, interface entries and credential assignments. An item may refer to
 * what an earlier one makes; a host's virtualizing service and an interface's neighbor may be of any item.
 * @returns what became of each item, in their order
 * @throws DomainError with every offender; entity_reference_invalid, entity_already_exists, entity_stale, entity_access_denied,
 * auth_permission_denied where all of them are that, else validation_failed
 */
export function writeHosts(tx: WriteTransaction, input: { items: readonly HostBulkItem[] }, actor: CommandActor): HostBulkResult[] {
  const bulk = new HostBulkWrite(tx, actor);
  return bulk.run(input.items);
}

/** An item whose host is there, created or found. */
interface Placed {
  readonly item: HostBulkItem;
  /** JSON pointer: `/3`. */
  readonly pointer: string;
  readonly host: HostRecord;
  readonly isNew: boolean;
  readonly hasAddresses: boolean;
}

class HostBulkWrite {
  private readonly tx: WriteTransaction;
  private readonly actor: CommandActor;
  private readonly offenders = new Offenders();
  /** To be set when every item's interface entries are there. */
  private readonly neighbors: Array<() => void> = [];

  constructor(tx: WriteTransaction, actor: CommandActor) {
    this.tx = tx;
    this.actor = actor;
  }

  run(items: readonly HostBulkItem[]): HostBulkResult[] {
    const positions = new Map<string, number>();
    const placed: Placed[] = [];
    for (const [position, item] of items.entries()) {
      const pointer = `/${position}`;
      const twin = item.id === undefined ? undefined : positions.get(item.id);
      if (twin !== undefined) {
        this.offenders.note(`${pointer}/id`, `is the id of /${twin} as well`, item.id);
        continue;
      }
      if (item.id !== undefined) positions.set(item.id, position);
      const found = item.id === undefined ? null : findReachable(this.tx, hostKind, item.id, this.actor);
      const host = found === null ? this.create(item, pointer) : this.update(found, item, pointer);
      if (host !== null) placed.push({ item, pointer, host, isNew: found === null, hasAddresses: this.writeChildren(host, found === null, item, pointer) });
    }
    for (const { item, pointer, host } of placed) {
      this.attempt(pointer, item, () => assertVirtualizingService(this.tx, item.virtualization, host.network_id, "virtualization/details/service_id", this.actor));
    }
    for (const each of placed) if (each.hasAddresses) this.writeInterfaces(each);
    for (const set of this.neighbors) set();
    this.offenders.throwIfAny();
    return this.results(placed);
  }

  /** @returns null for a host that has no place, by its network or its id: then the rest of the item cannot be looked at */
  private create(item: HostBulkItem, pointer: string): HostRecord | null {
    const { tx, actor } = this;
    const networkId = item.network_id;
    this.attempt(pointer, item, () => assertOwnOrganization(item.organization_id, actor));
    if (item.expected_updated_at !== undefined && item.expected_updated_at !== null) {
      this.offenders.note(`${pointer}/expected_updated_at`, "is of a host that is there already; there is none with this id", item.expected_updated_at);
    }
    const tags = this.tagsOf(item, pointer) ?? [];
    if (networkId === undefined) {
      this.offenders.note(`${pointer}/network_id`, "is required of a new host", undefined);
      return null;
    }
    const isInReach = this.attempt(pointer, item, () => getReferenced(tx, networkKind, [networkId], "network_id", actor)) !== null;
    if (!isInReach) return null;
    return this.attempt(pointer, item, () => addHost(tx, { ...item, network_id: networkId }, tags, actor));
  }

  /** @returns null for one that was changed since the client read it: the rest of the item is as old */
  private update(host: HostRecord, item: HostBulkItem, pointer: string): HostRecord | null {
    const { actor } = this;
    const isFresh = this.attempt(pointer, item, () => {
      assertNotStale(host, item.expected_updated_at);
      return true;
    });
    this.attempt(pointer, item, () => assertOwnOrganization(item.organization_id, actor));
    this.attempt(pointer, item, () => assertSameIds(host, item, ["network_id"]));
    const tags = item.tags === undefined ? host.tags : (this.tagsOf(item, pointer) ?? host.tags);
    return isFresh === null ? null : changeHost(this.tx, host, item, tags);
  }

  private tagsOf(item: HostBulkItem, pointer: string): string[] | null {
    return this.attempt(pointer, item, () => existingTags(this.tx, item.tags ?? [], this.actor));
  }

  /** @returns whether the list was gone through to its end: what refers to the addresses in it can be checked */
  private writeChildren(host: HostRecord, isNew: boolean, item: HostBulkItem, pointer: string): boolean {
    const { tx, actor } = this;
    const { ip_addresses, ports, services } = item;
    // A new host without a list has none, and nothing to look for.
    const isEmpty = isNew && !hasItems(ip_addresses) && !hasItems(ports) && !hasItems(services);
    const checkpoint = this.offenders.count;
    if (!isEmpty) this.attempt(pointer, item, () => syncChildren(tx, host, isNew ? { ip_addresses: ip_addresses ?? [], ports: ports ?? [], services: services ?? [] } : { ip_addresses, ports, services }, actor));
    if (this.offenders.since(checkpoint).some(({ code }) => code !== "validation_failed")) return false;
    const assignments = item.credential_assignments;
    if (assignments !== null && assignments !== undefined) this.attempt(pointer, item, () => setHostAssignments(tx, host.id, host.network_id, assignments, actor));
    return true;
  }

  /** The host's interface entries become what the item lists, as its addresses do. */
  private writeInterfaces({ item, pointer, host, isNew }: Placed): void {
    const { tx, actor, offenders } = this;
    const items = item.interfaces;
    if (items === null || items === undefined) return;
    const stored = isNew ? [] : tx.children(ifEntryKind, "host_n", host.id);
    const { matched, unmatched, issues } = match<IfEntryItem, IfEntryRecord>(items, stored, (each) => String(each.if_index), "/interfaces");
    for (const { path, message, value } of issues) offenders.note(`${pointer}${path}`, message, value);
    for (const { item: sent, position, stored: entry } of matched) {
      const place = `${pointer}/interfaces/${position}`;
      for (const { path, message, value } of foreignIds(sent, { host_id: host.id, network_id: host.network_id }, place)) offenders.note(path, message, value);
      const field = `interfaces/${position}/`;
      this.attempt(pointer, item, () => assertOwnOrganization(sent.organization_id, actor));
      const { neighbor, near } = withoutNeighbor(sent);
      const wrong = referenceChecks(tx, host, near, actor, field).filter((check) => this.attempt(pointer, item, check) === null);
      // What refers to the entry is not wrong for that: one without the references stands in, and nothing will be written.
      const sound = wrong.length === 0 ? near : withoutReferences(near);
      const written = this.attempt(pointer, item, () => (entry === null ? addIfEntry(tx, host, sound, actor, field) : changeIfEntry(tx, host, entry, sound, actor, field)));
      if (neighbor === null) continue;
      this.neighbors.push(() => {
        const far = { if_index: sent.if_index, if_descr: sent.if_descr, neighbor };
        const isSound = referenceChecks(tx, host, far, actor, field).every((check) => this.attempt(pointer, item, check) !== null);
        if (isSound && written !== null) tx.update(ifEntryKind, written.id, { neighbor });
      });
    }
    for (const { id } of unmatched) removeRecord(tx, ifEntryKind, id, true);
  }

  private attempt<T>(pointer: string, item: HostBulkItem, step: () => T): T | null {
    return this.offenders.attempt(pointer, item, step);
  }

  /** Complete when the transaction is written: only then it is known which hosts got a version, and for what. */
  private results(placed: readonly Placed[]): HostBulkResult[] {
    const { tx } = this;
    const results: HostBulkResult[] = [];
    tx.afterwardsRun(() => {
      const now = formatInstant(tx.instant);
      for (const { host, isNew } of placed) {
        const { id, name, updated_at } = tx.get(hostKind, host.id);
        results.push({ id, name, operation: isNew ? "Created" : updated_at === now ? "Updated" : "Unchanged", updated_at });
      }
    });
    return results;
  }
}

/** The far end may be of a later item, so it waits; null clears it at once. */
function withoutNeighbor(item: IfEntryItem): { near: IfEntryItem; neighbor: NonNullable<IfEntryItem["neighbor"]> | null } {
  if (item.neighbor === undefined || item.neighbor === null) return { near: item, neighbor: null };
  const { neighbor, ...near } = item;
  return { near, neighbor };
}

function withoutReferences(item: IfEntryItem): IfEntryItem {
  const { ip_address_id: _address, native_vlan_id: _native, vlan_ids: _vlans, ...rest } = item;
  return rest;
}

function hasItems(list: readonly unknown[] | null | undefined): boolean {
  return list !== null && list !== undefined && list.length > 0;
}
