// Records that scans never end: a user edited them, placed them on the map, or refers to them. They become stale.

import { formatInstant } from "../../base/instant.ts";
import type { AnyKind, Kind, RecordBase } from "../../db/kind.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import type { Discoverable } from "../../resources/discovered.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { isPlacedByPerson } from "../../resources/map-positions/map-position.ts";
import { referrersOf } from "../../resources/references.ts";
import { wasWrittenByUser } from "./provenance.ts";

/** True if a user edited the record or one that refers to it, or placed the host on the map. */
export function isUserEdited(tx: WriteTransaction, kind: AnyKind, record: RecordBase): boolean {
  const { id } = record;
  if (wasWrittenByUser(tx, id)) return true;
  if (kind.code === hostKind.code && isPlacedByPerson(tx, record as HostRecord)) return true;
  return referrersOf(tx, kind, id).some((referrer) => wasWrittenByUser(tx, referrer.record.id));
}

/** Clears the stale mark of a record. */
export function clearStale<R extends RecordBase & Discoverable>(
  tx: WriteTransaction,
  kind: Kind<R>,
  { id, stale_since }: R,
): void {
  if (stale_since === undefined) return;
  tx.update<RecordBase, object>(kind as unknown as Kind<RecordBase>, id, { stale_since: undefined });
}

/** Marks a record as stale, unless it already is. @param absent additional fields to set */
export function setStale<R extends RecordBase & Discoverable>(
  tx: WriteTransaction,
  kind: Kind<R>,
  record: R,
  absent: Partial<R> = {},
): void {
  const stale_since = record.stale_since ?? formatInstant(tx.instant);
  tx.update<RecordBase, object>(kind as unknown as Kind<RecordBase>, record.id, { stale_since, ...absent });
}
