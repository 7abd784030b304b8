// Removal of records. A removed record comes back if a scan finds it again, unless the user asks to have it ignored:
// then an ignored entry is written first.

import type { CommandActor } from "../../access/actor.ts";
import { getReachable } from "../../access/reach.ts";
import type { AnyKind, Kind, RecordBase } from "../../db/kind.ts";
import type { Removal } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { assertVersion } from "../../schemas/entity-tags.ts";
import { displayNameOf, liveNameLookup } from "../bindings/display-names.ts";
import { componentKind } from "../components/component.ts";
import { type HostRecord, hostKind } from "../hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../if-entries/if-entry.ts";
import { ipAddressKind } from "../ip-addresses/ip-address.ts";
import { isSharedMac } from "../ip-addresses/shared-macs.ts";
import { assertNotInUse, removeCascading } from "../references.ts";
import type { SourceRecord } from "../source.ts";
import { subnetKind } from "../subnets/subnet.ts";
import { vlanKind } from "../vlans/vlan.ts";
import { rememberEndedHost } from "./ended-hosts.ts";
import { type IgnoredEntity, type IgnoredRecord, ignoredIdentity, ignoredKind, isIgnorable } from "./ignored.ts";
import { hostSigns, interfaceSigns, SIGNS_MAX } from "./signs.ts";

/**
 * Removes a record with its children in this transaction.
 * @param cascade also removes dependents
 * @throws DomainError entity_in_use with the dependents counted by kind
 */
export function removeRecord(tx: WriteTransaction, kind: AnyKind, id: string, cascade: boolean): void {
  if (!cascade) assertNotInUse(tx, kind, id);
  rememberIfHost(tx, kind, id);
  removeCascading(tx, kind, id);
}

/** Its next incarnation continues its lineage, once scans find it again. */
function rememberIfHost(tx: WriteTransaction, kind: AnyKind, id: string): void {
  if (kind.code !== hostKind.code) return;
  const record = tx.get(hostKind, id);
  rememberEndedHost(tx, record, signsOf(tx, { kind, record, partsOf: (part) => tx.children(part, "host_n", id) }, []));
}

/**
 * Removes a record with its children, and has scans ignore the record from now on; its children are not ignored.
 * @returns the ignored entry
 * @throws DomainError as removeRecord
 */
export function removeAndIgnore(
  tx: WriteTransaction,
  kind: IgnorableKind,
  id: string,
  cascade: boolean,
): IgnoredRecord {
  if (!cascade) assertNotInUse(tx, kind, id);
  const entry = addIgnoredEntry(tx, kind, id);
  rememberIfHost(tx, kind, id);
  removeCascading(tx, kind, id);
  return entry;
}

/**
 * Returns the command that deletes one record of a kind and returns its last state. Throws entity_not_found,
 * precondition_failed, entity_in_use, and the errors of `authorize`, which checks more than reach.
 */
export function removeOne<R extends RecordBase>(
  kind: Kind<R>,
  authorize: (tx: WriteTransaction, record: R, actor: CommandActor) => void = () => {},
) {
  return (tx: WriteTransaction, { id, cascade = false, ignore = false, ifMatch }: Removal, actor: CommandActor): R => {
    const record = getReachable(tx, kind, id, actor);
    assertVersion(ifMatch, tx.versionOf(id));
    authorize(tx, record, actor);
    if (ignore && isIgnorableKind(kind)) removeAndIgnore(tx, kind, id, cascade);
    else removeRecord(tx, kind, id, cascade);
    return record;
  };
}

export type IgnorableKind = AnyKind & { readonly name: IgnoredEntity };

export function isIgnorableKind(kind: AnyKind): kind is IgnorableKind {
  return isIgnorable(kind.name);
}

/** Adds an ignored entry for a live record, with its current network and host. */
export function addIgnoredEntry(tx: WriteTransaction, kind: IgnorableKind, id: string): IgnoredRecord {
  const record = tx.get(kind, id) as RecordBase & Discovered;
  return ignoreRecord(tx, kind, record, (part) => tx.children(part, "host_n", id));
}

/**
 * Adds an ignored entry for a record in its current or last state, or updates the one of the same identity.
 * @param partsOf the host's children of a kind, if the record is a host
 */
export function ignoreRecord(
  tx: WriteTransaction,
  kind: IgnorableKind,
  record: RecordBase & Discovered,
  partsOf: <R extends RecordBase>(part: Kind<R>) => readonly R[],
): IgnoredRecord {
  const { organizationId } = tx.author;
  if (organizationId === null) throw new Error("ignored: the appliance itself ignores nothing");
  const { id } = record;
  const identity = kind.code === hostKind.code ? id : (kind.identity(record) ?? id);
  const existing = tx.findByIdentity(ignoredKind, ignoredIdentity(kind.name, identity));
  const fields = {
    record_id: id,
    label: displayNameOf(kind, record, liveNameLookup(tx)) ?? id,
    signs: signsOf(tx, { kind, record, partsOf }, existing?.signs ?? []),
  };
  // The record was deleted once before and re-created by hand, or another record has the same identity.
  if (existing !== null) return tx.update(ignoredKind, existing.id, fields);
  return tx.create(ignoredKind, organizationId, {
    network_id: record.network_id,
    entity: kind.name,
    host_id: record.host_id ?? null,
    identity,
    ...fields,
  });
}

/** Fields that reveal the origin of a record. */
export interface Discovered {
  readonly network_id: string;
  readonly host_id?: string;
  readonly source?: SourceRecord;
  readonly first_discovery_id?: string | null | undefined;
}

/** Whether discovery created the record, or has seen it since a user created it. */
export function isDiscovered(tx: WriteTransaction, kind: AnyKind, record: RecordBase & Discovered): boolean {
  const { source, first_discovery_id: discoveryId } = record;
  if (source?.type === "Discovery" || source?.type === "Inferred") return true;
  if (discoveryId !== null && discoveryId !== undefined) return true;
  const seen = tx.observedOf(record.id);
  // Only discovery sets a host's last_seen_at; on its children, manual creation sets it too.
  if ((kind.code === hostKind.code ? (seen.last_seen_at ?? null) : (seen.last_discovery_id ?? null)) !== null)
    return true;
  // Subnets and VLANs have no such field and would be recreated for their members.
  if (kind.code === subnetKind.code)
    return tx
      .children(ipAddressKind, "subnet_n", record.id)
      .some((address) => isDiscovered(tx, ipAddressKind, address));
  return (
    kind.code === vlanKind.code && interfacesIn(tx, record.id).some((entry) => isDiscovered(tx, ifEntryKind, entry))
  );
}

function interfacesIn(tx: WriteTransaction, vlanId: string): IfEntryRecord[] {
  const tagged = tx.referringTo("vlan_ids", vlanId).flatMap(({ id }) => tx.find(ifEntryKind, id) ?? []);
  return [...tx.children(ifEntryKind, "native_vlan_n", vlanId), ...tagged];
}

interface Ignoring {
  readonly kind: AnyKind;
  readonly record: RecordBase;
  readonly partsOf: <R extends RecordBase>(part: Kind<R>) => readonly R[];
}

/** @param earlierSigns signs of earlier records with the same identity */
function signsOf(tx: WriteTransaction, { kind, record, partsOf }: Ignoring, earlierSigns: readonly string[]): string[] {
  if (kind.code === ifEntryKind.code)
    return [...new Set([...interfaceSigns(record as IfEntryRecord), ...earlierSigns])].slice(0, SIGNS_MAX);
  if (kind.code !== hostKind.code) return [];
  const host = record as HostRecord;
  const networkN = tx.recordN(host.network_id) ?? 0;
  // A MAC address shared by many hosts is not a sign: it would make scans ignore the other hosts.
  const addresses = partsOf(ipAddressKind).map(({ ip_address, mac_address: mac }) => {
    return { ip_address, mac_address: mac === null || isSharedMac(tx, networkN, mac) ? null : mac };
  });
  return hostSigns(host, partsOf(ifEntryKind), addresses, partsOf(componentKind));
}
