// The resources whose records are written in tables, and those whose fields are set alike for many records.

import { ownValue } from "../base/fields.ts";
import { bindingWrites } from "../resources/bindings/writes.ts";
import { customFieldWrites } from "../resources/custom-fields/writes.ts";
import { hostWrites } from "../resources/hosts/writes.ts";
import { ifEntryWrites } from "../resources/if-entries/writes.ts";
import { ipAddressWrites } from "../resources/ip-addresses/writes.ts";
import { ipRangeWrites } from "../resources/ip-ranges/writes.ts";
import { markerWrites } from "../resources/markers/writes.ts";
import { networkWrites } from "../resources/networks/writes.ts";
import { portWrites } from "../resources/ports/writes.ts";
import type { RecordWrites } from "../resources/record-writes.ts";
import { scheduleWrites } from "../resources/schedules/writes.ts";
import { serviceWrites } from "../resources/services/writes.ts";
import { subnetWrites } from "../resources/subnets/writes.ts";
import { tagWrites } from "../resources/tags/writes.ts";
import { vlanWrites } from "../resources/vlans/writes.ts";

/** All that come in as tables, in the order of the documentation. */
export const IMPORTABLE: readonly RecordWrites[] = [
  networkWrites,
  subnetWrites,
  ipRangeWrites,
  vlanWrites,
  hostWrites,
  ipAddressWrites,
  portWrites,
  serviceWrites,
  ifEntryWrites,
  tagWrites,
  bindingWrites,
  scheduleWrites,
  markerWrites,
  customFieldWrites,
];

/** Those of which many are set alike. */
export const EDITABLE: readonly RecordWrites[] = IMPORTABLE.filter(({ isTableOnly }) => isTableOnly !== true);

/** Fields of a body that say which record it is, or where: no write changes them. */
export const PLACES = ["id", "organization_id", "network_id", "host_id", "service_id", "expected_updated_at"];

/** The fields that a write may set alike for many records. */
export function settableFields({ Update, parts = [] }: RecordWrites): string[] {
  return Object.keys(Update.properties).filter((name) => !PLACES.includes(name) && !parts.includes(name));
}

/** What the update of a record asks for and this one leaves out: as the record has it. */
export function bodyOver({ Update }: RecordWrites, record: object, said: object): object {
  const own = record as Readonly<Record<string, unknown>>;
  return { ...Object.fromEntries((Update.required ?? []).map((name) => [name, ownValue(own, name)])), ...said };
}
