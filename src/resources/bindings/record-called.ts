// What people call a record of any kind, a binding too: it has no name of its own, what it binds has. Must not know who
// asks, or as of when.

import type { AnyKind } from "../../db/kind.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { ipAddressKind } from "../ip-addresses/ip-address.ts";
import { portKind } from "../ports/port.ts";
import { recordName } from "../record-label.ts";
import { serviceKind } from "../services/service.ts";
import { type BindingRecord, bindingKind } from "./binding.ts";

/** What another record is called; null for one that is not there. */
export type CallOther = (kind: AnyKind, id: string) => string | null;

/**
 * As recordName; of a binding `shop at 443/Tcp at 10.2.3.4`, as far as these are there.
 * @returns null for a record that is called nothing
 */
export function recordCalled(kind: AnyKind, record: object, callOther: CallOther): string | null {
  if (kind.code !== bindingKind.code) return recordName(kind, record);
  const names = boundIds(record as BindingRecord).flatMap(([other, id]) => callOther(other, id) ?? []);
  return names.length === 0 ? null : names.join(" at ");
}

/** What others are called as a transaction has them so far. */
export function callingLive(tx: Pick<WriteTransaction, "find">): CallOther {
  return (kind, id) => {
    const record = tx.find(kind, id);
    return record === null ? null : recordName(kind, record);
  };
}

function boundIds({ service_id, port_id, ip_address_id }: BindingRecord): Array<[AnyKind, string]> {
  const ids: ReadonlyArray<readonly [AnyKind, string | null]> = [
    [serviceKind, service_id],
    [portKind, port_id],
    [ipAddressKind, ip_address_id],
  ];
  return ids.flatMap(([kind, id]) => (id === null ? [] : [[kind, id]]));
}
