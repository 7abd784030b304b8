// Moves host children between hosts: addresses, interface entries, ports, services and components, with their own
// children. For duplicates, the destination's record is kept.

import { entityWords } from "../../base/entity-words.ts";
import { type AnyKind, type RecordBase, seenIdentity } from "../../db/kind.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { CHILDREN_MAX, INT32_MAX } from "../../schemas/schemas.ts";
import { bindingKind } from "../bindings/binding.ts";
import { componentKind } from "../components/component.ts";
import { fdbEntryKind } from "../fdb-entries/fdb-entry.ts";
import { type HostRecord, hostKind } from "../hosts/host.ts";
import { nextPosition } from "../hosts/new-child.ts";
import { type IfEntryRecord, ifEntryKind } from "../if-entries/if-entry.ts";
import { type Neighbor, withoutFarEnd } from "../if-entries/more-neighbors.ts";
import { ignoredKind } from "../ignored/ignored.ts";
import { ipAddressKind } from "../ip-addresses/ip-address.ts";
import { portKind } from "../ports/port.ts";
import { recordLabel } from "../record-label.ts";
import { serviceKind } from "../services/service.ts";
import type { MoveDraft } from "./draft.ts";

/** Fields common to all child kinds. */
export interface ChildRecord extends RecordBase {
  readonly host_id: string;
  readonly network_id: string;
  readonly position?: number;
}

/** In the order of their codes: referenced kinds come first. */
export const CHILD_KINDS: readonly AnyKind[] = [ipAddressKind, ifEntryKind, portKind, serviceKind, componentKind];

/** A host's children of a kind. */
export function childrenOf(tx: WriteTransaction, kind: AnyKind, hostId: string): ChildRecord[] {
  return tx.children(kind, "host_n", hostId) as ChildRecord[];
}

/** Moves all of a host's children, with their bindings and forwarding entries. */
export function moveChildren(draft: MoveDraft, destination: HostRecord, other: HostRecord): void {
  const { tx } = draft;
  for (const kind of CHILD_KINDS) {
    const own = childrenOf(tx, kind, destination.id);
    const identityOf = (record: ChildRecord) => seenIdentity(kind, record) ?? kind.identity(record);
    const byIdentity = new Map(own.map((record) => [identityOf(record), record]));
    // The position of a component is assigned by its device.
    const isOrdered = kind.code !== componentKind.code;
    let slot = nextPosition(own.map(({ position = 0 }) => ({ position })));
    let count = own.length;
    for (const record of childrenOf(tx, kind, other.id)) {
      const existing = byIdentity.get(identityOf({ ...record, host_id: destination.id }));
      if (existing !== undefined) {
        draft.keep(kind, existing);
        draft.close(kind, record, existing, `the destination already has ${recordLabel(kind, existing)}`);
        continue;
      }
      count += 1;
      const positionField =
        record.position === undefined || !isOrdered ? {} : { position: Math.min(slot++, INT32_MAX) };
      draft.set(kind, record, { host_id: destination.id, ...positionField }, "Moved");
    }
    if (count > CHILDREN_MAX)
      draft.refuse(hostKind, destination, `would have ${count} ${entityWords(kind)}, more than ${CHILDREN_MAX}`);
  }
  moveBindings(draft, destination, other);
  moveForwarding(draft, destination, other);
}

function moveBindings(draft: MoveDraft, destination: HostRecord, other: HostRecord): void {
  const { tx, idOf } = draft;
  const byIdentity = new Map(
    tx.children(bindingKind, "host_n", destination.id).map((binding) => [bindingKind.identity(binding), binding]),
  );
  for (const binding of tx.children(bindingKind, "host_n", other.id)) {
    const moved = {
      ...binding,
      host_id: destination.id,
      service_id: idOf(binding.service_id),
      port_id: binding.port_id === null ? null : idOf(binding.port_id),
      ip_address_id: binding.ip_address_id === null ? null : idOf(binding.ip_address_id),
    };
    const identity = bindingKind.identity(moved);
    const existing = byIdentity.get(identity);
    if (existing === undefined) {
      const { host_id, service_id, port_id, ip_address_id } = moved;
      draft.set(bindingKind, binding, { host_id, service_id, port_id, ip_address_id }, "Moved");
      byIdentity.set(identity, moved);
    } else draft.close(bindingKind, binding, existing, "the destination already has the same binding");
  }
}

function moveForwarding(draft: MoveDraft, destination: HostRecord, other: HostRecord): void {
  for (const entry of draft.tx.children(fdbEntryKind, "host_n", other.id)) {
    if (draft.find(ifEntryKind, entry.if_entry_id) === null) draft.close(fdbEntryKind, entry, null);
    else draft.set(fdbEntryKind, entry, { host_id: destination.id }, "Moved");
  }
}

/** Removes links between the two hosts. Run after all other changes are drafted. */
export function removeLinksBetween(draft: MoveDraft, destination: HostRecord, other: HostRecord): void {
  const isOnDestination = ({ type, id }: Neighbor) =>
    type === "Host" ? id === destination.id : draft.find(ifEntryKind, id)?.host_id === destination.id;
  for (const hostId of [destination.id, other.id]) {
    for (const before of draft.tx.children(ifEntryKind, "host_n", hostId)) {
      const entry: IfEntryRecord | null = draft.find(ifEntryKind, before.id);
      if (entry === null) continue;
      const reason = "a host is not its own neighbor";
      if (entry.neighbor !== undefined && isOnDestination(entry.neighbor))
        draft.set(ifEntryKind, before, { neighbor: undefined }, "Changed", reason);
      let moreNeighbors = entry.more_neighbors;
      for (const { neighbor } of entry.more_neighbors ?? [])
        if (moreNeighbors !== undefined && neighbor !== undefined && isOnDestination(neighbor))
          moreNeighbors = withoutFarEnd(moreNeighbors, neighbor.id);
      if (moreNeighbors !== entry.more_neighbors)
        draft.set(ifEntryKind, before, { more_neighbors: moreNeighbors }, "Changed", reason);
    }
  }
}

/** Moves the other host's ignored entries to the destination; closes entries whose record the destination now has. */
export function moveIgnored(draft: MoveDraft, destination: HostRecord, other: HostRecord): void {
  const { tx, idOf } = draft;
  const live = new Set<string>();
  for (const kind of [...CHILD_KINDS, bindingKind]) {
    for (const hostId of [destination.id, other.id]) {
      for (const { id } of childrenOf(tx, kind, hostId)) {
        const record = draft.find(kind, id);
        if (record !== null) live.add(`${kind.name}/${kind.identity(record)}`);
      }
    }
  }
  const known = new Set<string>();
  for (const record of tx.children(ignoredKind, "host_n", destination.id)) {
    const slot = `${record.entity}/${record.identity}`;
    if (live.has(slot)) draft.close(ignoredKind, record, null, "the destination has this record again");
    else known.add(slot);
  }
  for (const record of tx.children(ignoredKind, "host_n", other.id)) {
    const identity = record.identity.replaceAll(UUID, idOf);
    const slot = `${record.entity}/${identity}`;
    if (live.has(slot) || known.has(slot))
      draft.close(ignoredKind, record, null, "the destination already has this entry");
    else draft.set(ignoredKind, record, { host_id: destination.id, identity }, "Moved");
    known.add(slot);
  }
}

/** Identities contain record ids. */
const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
