// Removals. Where a person removes what discovery has found, that it is not to come back is written down before the
// record and its parts go. What a person entered, and what discovery itself removes, leaves nothing behind.

import type { CommandActor } from "../../access/actor.ts";
import { getReachable } from "../../access/reach.ts";
import type { AnyKind, Kind, RecordBase } from "../../db/kind.ts";
import type { Removal } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { assertVersion } from "../../schemas/entity-tags.ts";
import { callingLive, recordCalled } from "../bindings/record-called.ts";
import { type HostRecord, hostKind } from "../hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../if-entries/if-entry.ts";
import { ipAddressKind } from "../ip-addresses/ip-address.ts";
import { isSharedMac } from "../ip-addresses/shared-macs.ts";
import { refuseInUse, removeWithItsOwn } from "../references.ts";
import type { SourceRecord } from "../source.ts";
import { subnetKind } from "../subnets/subnet.ts";
import { vlanKind } from "../vlans/vlan.ts";
import { type IgnoredRecord, ignoredIdentity, ignoredKind, isIgnorable } from "./ignored.ts";
import { hostSigns, interfaceSigns, SIGNS_MAX } from "./signs.ts";

/**
 * Removes a record with what it owns, in this transaction. Where a person removes what discovery has found, it is
 * ignored from now on; what goes along with it is not.
 * @param cascade also what stands in the way
 * @throws DomainError entity_in_use with the dependants counted by kind
 */
export function removeRecord(tx: WriteTransaction, kind: AnyKind, id: string, cascade: boolean): void {
  if (!cascade) refuseInUse(tx, kind, id);
  ignoreFromNowOn(tx, kind, id);
  removeWithItsOwn(tx, kind, id);
}

/**
 * The command that deletes one record of a kind, and answers it as it was. It throws entity_not_found,
 * precondition_failed, entity_in_use, and what `assertMay` throws, where more is asked than that it lies in reach.
 */
export function removeOne<R extends RecordBase>(
  kind: Kind<R>,
  assertMay: (tx: WriteTransaction, record: R, actor: CommandActor) => void = () => {},
) {
  return (tx: WriteTransaction, { id, cascade = false, ifMatch }: Removal, actor: CommandActor): R => {
    const record = getReachable(tx, kind, id, actor);
    assertVersion(ifMatch, tx.versionOf(id));
    assertMay(tx, record, actor);
    removeRecord(tx, kind, id, cascade);
    return record;
  };
}

/** Whether discovery has found a record, and a person takes it away: then it would bring it back. */
export function isToBeIgnored(tx: WriteTransaction, kind: AnyKind, id: string): boolean {
  if (!isPerson(tx) || tx.author.organizationId === null || !isIgnorable(kind.name)) return false;
  const record = tx.find(kind, id) as (RecordBase & Discovered) | null;
  return record !== null && isFound(tx, kind, record);
}

/**
 * Has discovery not bring back a record where it is now, which a person takes away.
 * @returns what says so; null where nothing has to
 */
export function ignoreFromNowOn(tx: WriteTransaction, kind: AnyKind, id: string): IgnoredRecord | null {
  const { organizationId } = tx.author;
  if (organizationId === null || !isIgnorable(kind.name) || !isToBeIgnored(tx, kind, id)) return null;
  const record = tx.get(kind, id) as RecordBase & Discovered;
  const identity = identityOf(kind, record);
  const known = tx.findByIdentity(ignoredKind, ignoredIdentity(kind.name, identity));
  const what = {
    record_id: id,
    label: labelOf(tx, kind, record),
    signs: signsOf(tx, kind, record, known?.signs ?? []),
  };
  // It was entered by hand after it had been deleted once before, or another has taken its number.
  if (known !== null) return tx.update(ignoredKind, known.id, what);
  return tx.create(ignoredKind, organizationId, {
    network_id: record.network_id,
    entity: kind.name,
    host_id: record.host_id ?? null,
    identity,
    ...what,
  });
}

/** What a record may say of where it comes from. */
interface Discovered {
  readonly network_id: string;
  readonly host_id?: string;
  readonly source?: SourceRecord;
  readonly first_discovery_id?: string | null | undefined;
}

/** Whoever has discovery look around removes nothing himself: what is found no more may come back. */
function isPerson({ author, source }: WriteTransaction): boolean {
  return (author.type === "User" || author.type === "ApiKey") && !source.startsWith("discovery.");
}

/** Whether discovery made it, or has seen it since a person entered it. */
function isFound(tx: WriteTransaction, kind: AnyKind, record: RecordBase & Discovered): boolean {
  const { source, first_discovery_id: discoveryId } = record;
  if (source?.type === "Discovery" || source?.type === "Inferred") return true;
  if (discoveryId !== null && discoveryId !== undefined) return true;
  const seen = tx.observedOf(record.id);
  // When a host was last seen is discovery's word alone; of its parts it is also said when they were entered.
  if ((kind.code === hostKind.code ? (seen.last_seen_at ?? null) : (seen.last_discovery_id ?? null)) !== null)
    return true;
  // They have nothing of their own that says so, and would be made anew for what is in them.
  if (kind.code === subnetKind.code)
    return tx.children(ipAddressKind, "subnet_n", record.id).some((address) => isFound(tx, ipAddressKind, address));
  return kind.code === vlanKind.code && interfacesIn(tx, record.id).some((entry) => isFound(tx, ifEntryKind, entry));
}

function labelOf(tx: WriteTransaction, kind: AnyKind, record: RecordBase): string {
  return recordCalled(kind, record, callingLive(tx)) ?? record.id;
}

function identityOf(kind: AnyKind, record: RecordBase): string {
  return kind.code === hostKind.code ? record.id : (kind.identity(record) ?? record.id);
}

function interfacesIn(tx: WriteTransaction, vlanId: string): IfEntryRecord[] {
  const tagged = tx.referringTo("vlan_ids", vlanId).flatMap(({ id }) => tx.find(ifEntryKind, id) ?? []);
  return [...tx.children(ifEntryKind, "native_vlan_n", vlanId), ...tagged];
}

/** @param before of those that had the same identity */
function signsOf(tx: WriteTransaction, kind: AnyKind, record: RecordBase, before: readonly string[]): string[] {
  if (kind.code === ifEntryKind.code)
    return [...new Set([...interfaceSigns(record as IfEntryRecord), ...before])].slice(0, SIGNS_MAX);
  if (kind.code !== hostKind.code) return [];
  const host = record as HostRecord;
  const networkN = tx.recordN(host.network_id) ?? 0;
  // What answers for many hosts would, kept as a sign of one of them, be ignored in its place.
  const addresses = tx.children(ipAddressKind, "host_n", host.id).map(({ ip_address, mac_address: mac }) => {
    return { ip_address, mac_address: mac === null || isSharedMac(tx, networkN, mac) ? null : mac };
  });
  return hostSigns(host, tx.children(ifEntryKind, "host_n", host.id), addresses);
}
