// A person removes what discovery has found: that it is not to come back is written down in the same transaction, before the record and
// its parts go. What a person entered, and what discovery itself removes, leaves nothing behind.

import type { AnyKind, RecordBase } from "../../db/kind.ts";
import type { WriteTransaction } from "../../db/transaction.ts";
import { hostKind, type HostRecord } from "../hosts/host.ts";
import { ifEntryKind } from "../if-entries/if-entry.ts";
import { ipAddressKind } from "../ip-addresses/ip-address.ts";
import { recordLabel } from "../record-label.ts";
import type { SourceRecord } from "../source.ts";
import { ignoredIdentity, ignoredKind, isIgnorable } from "./ignored.ts";
import { hostSigns } from "./signs.ts";

/** To be run before a record is removed for itself: not for what only goes along with another. */
export function ignoreFromNowOn(tx: WriteTransaction, kind: AnyKind, id: string): void {
  const { organizationId } = tx.author;
  if (!isPerson(tx) || organizationId === null || !isIgnorable(kind.name)) return;
  const record = tx.find(kind, id) as (RecordBase & Discovered) | null;
  if (record === null || !isFound(tx, kind, record)) return;
  const what = {
    record_id: id,
    label: recordLabel(kind.name, record as unknown as Record<string, unknown>),
    signs: kind.code === hostKind.code ? signsOf(tx, record as unknown as HostRecord) : [],
  };
  const identity = identityOf(kind, record);
  const known = tx.findByIdentity(ignoredKind, ignoredIdentity(kind.name, identity));
  // It was entered by hand after it had been deleted once before.
  if (known !== null) tx.update(ignoredKind, known.id, what);
  else tx.create(ignoredKind, organizationId, { network_id: record.network_id, entity: kind.name, host_id: record.host_id ?? null, identity, ...what });
}

/** What a record may say of where it comes from. */
interface Discovered {
  readonly network_id: string;
  readonly host_id?: string;
  readonly source?: SourceRecord;
  readonly first_discovery_id?: string | null;
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
  // Of a host that is discovery's word alone; of its parts also when they were entered.
  return kind.code === hostKind.code && (tx.observedOf(record.id).last_seen_at ?? null) !== null;
}

function identityOf(kind: AnyKind, record: RecordBase): string {
  return kind.code === hostKind.code ? record.id : (kind.identity(record) ?? record.id);
}

function signsOf(tx: WriteTransaction, host: HostRecord): string[] {
  return hostSigns(host, tx.children(ifEntryKind, "host_n", host.id), tx.children(ipAddressKind, "host_n", host.id));
}
