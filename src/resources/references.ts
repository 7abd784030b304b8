// What refers to what, and what a removal does about it: refuse, take along, or clear the reference.
// The one place that looks against the direction of the foreign keys.

import { countedEntities, entityWord } from "../base/entity-words.ts";
import { DomainError } from "../base/errors.ts";
import { cidrContains, parseCidr, parseIp } from "../base/ip.ts";
import type { AnyKind, RecordBase } from "../db/kind.ts";
import type { WriteTransaction } from "../db/transaction.ts";
import { bindingKind } from "./bindings/binding.ts";
import { apiKeyKind } from "./api-keys/api-key.ts";
import {
  credentialAssignmentKind,
  type CredentialAssignmentRecord,
} from "./credential-assignments/credential-assignment.ts";
import { credentialKind } from "./credentials/credential.ts";
import { fdbEntryKind } from "./fdb-entries/fdb-entry.ts";
import { hostKind } from "./hosts/host.ts";
import { ifEntryKind, type IfEntryRecord } from "./if-entries/if-entry.ts";
import { withoutFarEnd } from "./if-entries/more-neighbors.ts";
import { ignoredKind } from "./ignored/ignored.ts";
import { ignoreFromNowOn } from "./ignored/removal.ts";
import { ipAddressKind } from "./ip-addresses/ip-address.ts";
import { networkKind } from "./networks/network.ts";
import { portKind } from "./ports/port.ts";
import { scheduleKind } from "./schedules/schedule.ts";
import { serviceKind } from "./services/service.ts";
import { subnetKind } from "./subnets/subnet.ts";
import { tagKind } from "./tags/tag.ts";
import { userKind } from "./users/user.ts";
import { vlanKind } from "./vlans/vlan.ts";

/** "owned": goes along. "cleared": the reference is taken off. "refused": stands in the way, unless a cascade does what it says. */
type Rule = "owned" | "cleared" | { readonly refused: true; readonly cascade: "removed" | "cleared" };

interface Reference {
  readonly to: AnyKind;
  readonly from: AnyKind;
  /** A live column that holds the number of what is referred to, or an id list. */
  readonly by: { readonly column: string } | { readonly relation: string };
  readonly rule: Rule;
  /** Takes the reference off a record: the changed fields. Null: the record can't be without and goes. */
  readonly without?: (record: RecordBase, id: string) => object | null;
  /** Where one id list names records of several kinds: whether this record's names those of `to`. */
  readonly isMeant?: (record: RecordBase) => boolean;
}

/** A reference that a record has. */
export interface ReferenceHeld {
  readonly to: AnyKind;
  /** Where the record has it: `subnet_id`. */
  readonly field: string;
  readonly ids: readonly string[];
  /** Whether a removal of what is referred to would just take the reference off. */
  readonly isCleared: boolean;
  /** The changed fields of a state of the record without one of the ids; null where it can't be without. */
  readonly without: (state: RecordBase, id: string) => object | null;
}

/** A record that refers to another, and what a removal of the other would make of it. */
export interface Referrer {
  readonly kind: AnyKind;
  readonly record: RecordBase;
  /** Whether a state of the record still refers to the other. */
  readonly refers: (state: RecordBase) => boolean;
  /** The changed fields of such a state without the reference; null where it can't be without. */
  readonly without: (state: RecordBase) => object | null;
}

const REMOVED: Rule = { refused: true, cascade: "removed" };
const CLEARED: Rule = { refused: true, cascade: "cleared" };

/** Takes an id off an array field. */
function offList(field: string) {
  return (record: RecordBase, id: string): object => ({
    [field]: ((record as unknown as Record<string, string[]>)[field] ?? []).filter((each) => each !== id),
  });
}

function offVlanList(record: RecordBase, id: string): object {
  const left = ((record as unknown as { vlan_ids?: string[] }).vlan_ids ?? []).filter((each) => each !== id);
  return { vlan_ids: left.length === 0 ? undefined : left };
}

/** An assignment that names addresses never widens to all of them: without its last one it goes. */
function offAddressList(record: RecordBase, id: string): object | null {
  const left = ((record as CredentialAssignmentRecord).ip_address_ids ?? []).filter((each) => each !== id);
  return left.length === 0 ? null : { ip_address_ids: left };
}

function offMoreNeighbors(record: RecordBase, id: string): object {
  return { more_neighbors: withoutFarEnd((record as IfEntryRecord).more_neighbors ?? [], id) };
}

function isNeighbor(type: "Host" | "IfEntry") {
  return (record: RecordBase): boolean => (record as IfEntryRecord).neighbor?.type === type;
}

function offVirtualization(record: RecordBase): object {
  const virtualization = (record as unknown as { virtualization: { type: string; details: { service_id?: string } } })
    .virtualization;
  const { service_id: _gone, ...details } = virtualization.details;
  return { virtualization: { ...virtualization, details } };
}

const tagged: readonly AnyKind[] = [networkKind, subnetKind, credentialKind, hostKind, serviceKind, apiKeyKind];

const REFERENCES: readonly Reference[] = [
  { to: networkKind, from: vlanKind, by: { column: "network_n" }, rule: REMOVED },
  { to: networkKind, from: subnetKind, by: { column: "network_n" }, rule: REMOVED },
  { to: networkKind, from: hostKind, by: { column: "network_n" }, rule: REMOVED },
  { to: networkKind, from: credentialAssignmentKind, by: { column: "network_n" }, rule: "owned" },
  { to: networkKind, from: scheduleKind, by: { column: "network_n" }, rule: REMOVED },
  { to: networkKind, from: ignoredKind, by: { column: "network_n" }, rule: "owned" },
  {
    to: networkKind,
    from: userKind,
    by: { relation: "network_ids" },
    rule: "cleared",
    without: offList("network_ids"),
  },
  {
    to: networkKind,
    from: apiKeyKind,
    by: { relation: "network_ids" },
    rule: "cleared",
    without: offList("network_ids"),
  },
  { to: vlanKind, from: subnetKind, by: { column: "vlan_n" }, rule: CLEARED, without: () => ({ vlan_id: null }) },
  {
    to: vlanKind,
    from: ifEntryKind,
    by: { column: "native_vlan_n" },
    rule: CLEARED,
    without: () => ({ native_vlan_id: undefined }),
  },
  { to: vlanKind, from: ifEntryKind, by: { relation: "vlan_ids" }, rule: CLEARED, without: offVlanList },
  { to: subnetKind, from: ipAddressKind, by: { column: "subnet_n" }, rule: REMOVED },
  ...tagged.map(
    (from): Reference => ({ to: tagKind, from, by: { relation: "tags" }, rule: "cleared", without: offList("tags") }),
  ),
  { to: credentialKind, from: credentialAssignmentKind, by: { column: "credential_n" }, rule: REMOVED },
  { to: hostKind, from: ipAddressKind, by: { column: "host_n" }, rule: "owned" },
  { to: hostKind, from: ifEntryKind, by: { column: "host_n" }, rule: "owned" },
  { to: hostKind, from: portKind, by: { column: "host_n" }, rule: "owned" },
  { to: hostKind, from: serviceKind, by: { column: "host_n" }, rule: "owned" },
  { to: hostKind, from: credentialAssignmentKind, by: { column: "host_n" }, rule: "owned" },
  { to: hostKind, from: ignoredKind, by: { column: "host_n" }, rule: "owned" },
  {
    to: hostKind,
    from: ifEntryKind,
    by: { relation: "neighbor" },
    rule: "cleared",
    without: () => ({ neighbor: undefined }),
    isMeant: isNeighbor("Host"),
  },
  {
    to: hostKind,
    from: ifEntryKind,
    by: { relation: "more_neighbor_hosts" },
    rule: "cleared",
    without: offMoreNeighbors,
  },
  {
    to: ifEntryKind,
    from: ifEntryKind,
    by: { relation: "more_neighbor_if_entries" },
    rule: "cleared",
    without: offMoreNeighbors,
  },
  { to: ifEntryKind, from: fdbEntryKind, by: { column: "if_entry_n" }, rule: "owned" },
  {
    to: ifEntryKind,
    from: ifEntryKind,
    by: { relation: "neighbor" },
    rule: "cleared",
    without: () => ({ neighbor: undefined }),
    isMeant: isNeighbor("IfEntry"),
  },
  {
    to: ipAddressKind,
    from: ifEntryKind,
    by: { column: "ip_address_n" },
    rule: "cleared",
    without: () => ({ ip_address_id: undefined }),
  },
  { to: ipAddressKind, from: bindingKind, by: { column: "ip_address_n" }, rule: "owned" },
  {
    to: ipAddressKind,
    from: credentialAssignmentKind,
    by: { relation: "ip_address_ids" },
    rule: "cleared",
    without: offAddressList,
  },
  { to: portKind, from: bindingKind, by: { column: "port_n" }, rule: "owned" },
  { to: serviceKind, from: bindingKind, by: { column: "service_n" }, rule: "owned" },
  { to: serviceKind, from: hostKind, by: { relation: "virtualization" }, rule: "cleared", without: offVirtualization },
  {
    to: serviceKind,
    from: serviceKind,
    by: { relation: "virtualization" },
    rule: "cleared",
    without: offVirtualization,
  },
  { to: userKind, from: apiKeyKind, by: { column: "user_n" }, rule: "owned" },
];

/**
 * Removes a record with what it owns, in this transaction. Where a person removes what discovery has found, it is ignored from now on; what
 * goes along with it is not.
 * @param cascade also what stands in the way
 * @throws DomainError entity_in_use with the dependants counted by kind
 */
export function removeRecord(tx: WriteTransaction, kind: AnyKind, id: string, cascade: boolean): void {
  if (!cascade) refuseInUse(tx, kind, id);
  ignoreFromNowOn(tx, kind, id);
  removeWithItsOwn(tx, kind, id);
}

function removeWithItsOwn(tx: WriteTransaction, kind: AnyKind, id: string): void {
  for (const reference of REFERENCES) {
    if (reference.to.code !== kind.code) continue;
    for (const record of referring(tx, reference, id)) detach(tx, reference, record, id);
  }
  tx.remove(kind, id);
}

/** What a record refers to, as far as a removal of it would have to do something about the record. */
export function referencesOf(kind: AnyKind, record: RecordBase): ReferenceHeld[] {
  const held: ReferenceHeld[] = [];
  for (const reference of REFERENCES) {
    if (reference.from.code !== kind.code) continue;
    const ids = idsIn(reference, record);
    if (ids.length === 0) continue;
    held.push({
      to: reference.to,
      field: fieldOf(reference),
      ids,
      isCleared: reference.rule === "cleared",
      without: (state, id) => withoutReference(reference, state, id),
    });
  }
  return held;
}

/** The live records that refer to a record, as this transaction has changed them so far. */
export function referrersOf(tx: WriteTransaction, kind: AnyKind, id: string): Referrer[] {
  return REFERENCES.filter((reference) => reference.to.code === kind.code).flatMap((reference) =>
    referring(tx, reference, id).map((record) => ({
      kind: reference.from,
      record,
      refers: (state: RecordBase) => idsIn(reference, state).includes(id),
      without: (state: RecordBase) => withoutReference(reference, state, id),
    })),
  );
}

/**
 * A subnet that is given another prefix keeps the addresses in it.
 * @throws DomainError entity_in_use when some would be left outside
 */
export function assertAddressesStay(tx: WriteTransaction, subnetId: string, cidr: string): void {
  const prefix = parseCidr(cidr);
  const outside = tx.children(ipAddressKind, "subnet_n", subnetId).filter((address) => {
    const ip = parseIp(address.ip_address);
    return prefix === null || ip === null || !cidrContains(prefix, ip);
  });
  if (outside.length === 0) return;
  throw new DomainError(
    "entity_in_use",
    `The subnet has ${countedEntities("ip_address", outside.length)} outside of ${cidr}; move or remove these first.`,
    {
      entity: "subnet",
      id: subnetId,
      dependants: { ip_addresses: outside.length },
    },
  );
}

function refuseInUse(tx: WriteTransaction, kind: AnyKind, id: string): void {
  // A record may refer to another in more ways than one, and is one dependant all the same.
  const found = new Map<AnyKind, Set<string>>();
  let isRemoved = false;
  for (const reference of REFERENCES) {
    if (reference.to.code !== kind.code || typeof reference.rule === "string") continue;
    const ids = found.get(reference.from) ?? new Set();
    for (const record of referring(tx, reference, id)) ids.add(record.id);
    if (ids.size === 0) continue;
    found.set(reference.from, ids);
    if (reference.rule.cascade === "removed") isRemoved = true;
  }
  if (found.size === 0) return;
  const what = [...found].map(([from, ids]) => countedEntities(from.name, ids.size)).join(", ");
  const how = isRemoved
    ? "remove these first, or repeat with cascade=true, which removes them as well"
    : `take the ${entityWord(kind.name)} off these first, or repeat with cascade=true, which does that and keeps them`;
  throw new DomainError("entity_in_use", `The ${entityWord(kind.name)} is in use by ${what}; ${how}.`, {
    entity: kind.name,
    id,
    dependants: Object.fromEntries([...found].map(([from, ids]) => [from.plural, ids.size])),
  });
}

function detach(tx: WriteTransaction, reference: Reference, record: RecordBase, id: string): void {
  const changes = withoutReference(reference, record, id);
  if (changes === null) removeWithItsOwn(tx, reference.from, record.id);
  else tx.update(reference.from, record.id, changes);
}

/** The changed fields; null where the record goes along. */
function withoutReference({ rule, from, to, without }: Reference, record: RecordBase, id: string): object | null {
  if (rule === "owned" || (typeof rule === "object" && rule.cascade === "removed")) return null;
  if (without === undefined) throw new Error(`references: no way to take a ${to.name} off a ${from.name}`);
  return without(record, id);
}

function fieldOf({ by }: Reference): string {
  return "column" in by ? by.column.replace(/_n$/, "_id") : by.relation;
}

/** What a record names by a reference. */
function idsIn(reference: Reference, record: RecordBase): readonly string[] {
  const { by, from, isMeant } = reference;
  if (isMeant?.(record) === false) return [];
  if ("relation" in by)
    return (
      from.links?.(record).find((link: { relation: string; ids: readonly string[] }) => link.relation === by.relation)
        ?.ids ?? []
    );
  const id = (record as unknown as Record<string, unknown>)[fieldOf(reference)];
  return typeof id === "string" ? [id] : [];
}

/** The live records that refer to `id`, as this transaction has changed them so far. */
function referring(tx: WriteTransaction, reference: Reference, id: string): RecordBase[] {
  const { by, from } = reference;
  const candidates =
    "column" in by
      ? (tx.children(from, by.column, id) as RecordBase[])
      : tx
          .referringTo(by.relation, id)
          .filter((each) => each.kind === from.code)
          .map((each) => tx.find(from, each.id) as RecordBase | null)
          .filter((record) => record !== null);
  return candidates.filter((record) => idsIn(reference, record).includes(id));
}
