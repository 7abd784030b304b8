// What people call a binding, which has no name of its own: what is bound where. Must not know who asks.

import type { AnyKind, RecordBase } from "../../db/kind.ts";
import { ipAddressKind } from "../ip-addresses/ip-address.ts";
import { portKind } from "../ports/port.ts";
import { recordLabel } from "../record-label.ts";
import { serviceKind } from "../services/service.ts";
import type { BindingRecord } from "./binding.ts";

/** `shop at 443/Tcp at 10.2.3.4`, as far as these are there. @param find null for a record that is not there */
export function bindingName(
  { service_id, port_id, ip_address_id }: BindingRecord,
  find: (kind: AnyKind, id: string) => RecordBase | null,
): string {
  const parts: ReadonlyArray<readonly [AnyKind, string | null]> = [
    [serviceKind, service_id],
    [portKind, port_id],
    [ipAddressKind, ip_address_id],
  ];
  return parts
    .flatMap(([kind, id]) => {
      const record = id === null ? null : find(kind, id);
      return record === null ? [] : [recordLabel(kind, record)];
    })
    .join(" at ");
}
