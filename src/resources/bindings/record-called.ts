// Display names for records of any kind, including bindings, which are named after their targets. Must not know the
// caller or the timestamp of a request.

import type { AnyKind } from "../../db/kind.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { ipAddressKind } from "../ip-addresses/ip-address.ts";
import { portKind } from "../ports/port.ts";
import { recordName } from "../record-label.ts";
import { serviceKind } from "../services/service.ts";
import { type BindingRecord, bindingKind } from "./binding.ts";

/** Display name of another record; null if the record does not exist. */
export type CallOther = (kind: AnyKind, id: string) => string | null;

/**
 * As recordName; a binding is called `shop at 443/Tcp at 10.2.3.4`, from the parts that exist.
 * @returns null for a record without a name
 */
export function recordCalled(kind: AnyKind, record: object, callOther: CallOther): string | null {
  if (kind.code !== bindingKind.code) return recordName(kind, record);
  const names = boundIds(record as BindingRecord).flatMap(([other, id]) => callOther(other, id) ?? []);
  return names.length === 0 ? null : names.join(" at ");
}

/** Names as of the current state of a transaction. */
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
