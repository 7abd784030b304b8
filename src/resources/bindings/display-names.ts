// Display names for records of any kind, including bindings, which are named after their targets. Independent of the
// caller and the timestamp of a request.

import type { AnyKind } from "../../db/kind.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { ipAddressKind } from "../ip-addresses/ip-address.ts";
import { portKind } from "../ports/port.ts";
import { recordName } from "../record-label.ts";
import { serviceKind } from "../services/service.ts";
import { type BindingRecord, bindingKind } from "./binding.ts";

/** Looks up the display name of a record; null if the record does not exist. */
export type NameLookup = (kind: AnyKind, id: string) => string | null;

/**
 * Like recordName; a binding is named after its existing parts: `shop at 443/Tcp at 10.2.3.4`.
 * @returns null for a record without a name
 */
export function displayNameOf(kind: AnyKind, record: object, nameOf: NameLookup): string | null {
  if (kind.code !== bindingKind.code) return recordName(kind, record);
  const names = targetIds(record as BindingRecord).flatMap(([partKind, id]) => nameOf(partKind, id) ?? []);
  return names.length === 0 ? null : names.join(" at ");
}

/** Names as of the current state of a transaction. */
export function liveNameLookup(tx: Pick<WriteTransaction, "find">): NameLookup {
  return (kind, id) => {
    const record = tx.find(kind, id);
    return record === null ? null : recordName(kind, record);
  };
}

function targetIds({ service_id, port_id, ip_address_id }: BindingRecord): Array<[AnyKind, string]> {
  const ids: ReadonlyArray<readonly [AnyKind, string | null]> = [
    [serviceKind, service_id],
    [portKind, port_id],
    [ipAddressKind, ip_address_id],
  ];
  return ids.flatMap(([kind, id]) => (id === null ? [] : [[kind, id]]));
}
