// Records a device's chassis as components. A component keeps its record while its serial number is reported at any
// position in the stack, or, without a serial number, while its position is.

import { componentKind } from "../../resources/components/component.ts";
import type { HostRecord } from "../../resources/hosts/host.ts";
import { CHILDREN_MAX } from "../../schemas/schemas.ts";
import type { DeviceComponent } from "../device.ts";
import type { MissingParts } from "./missing-parts.ts";
import type { OmittedRows } from "./omitted-rows.ts";
import type { ScanWrite } from "./scan-write.ts";

interface ComponentContext {
  readonly omitted: OmittedRows;
  /** Ends components that the device no longer has; null if another device reports the host too. */
  readonly missingParts: MissingParts | null;
}

/** @param components all chassis of the device */
export function recordComponents(
  write: ScanWrite,
  host: HostRecord,
  components: readonly DeviceComponent[],
  { omitted, missingParts }: ComponentContext,
): void {
  const { tx } = write;
  const stored = tx.children(componentKind, "host_n", host.id);
  const matched = matchComponents(components, stored);
  const current = new Set(matched.values());
  missingParts?.components(stored.filter((component) => !current.has(component)));
  let room = CHILDREN_MAX - tx.children(componentKind, "host_n", host.id).length;
  let left = 0;
  for (const component of components) {
    const before = matched.get(component);
    if (before !== undefined) write.update(componentKind, before, component);
    else if (write.isRepeat && component.serial_number === null) omitted.add("entity", "contradicted", 1);
    else if (room > 0) {
      room -= 1;
      const place = { host_id: host.id, network_id: host.network_id, first_discovery_id: write.scanId };
      write.create(componentKind, { ...place, ...component });
    } else left += 1;
  }
  omitted.add("entity", "limit", left);
  if (left > 0) write.addLimitFinding(host, componentKind.plural, left, CHILDREN_MAX);
}

type Chassis = Pick<DeviceComponent, "position" | "serial_number">;
/** Null for a chassis that is excluded from matching. */
type KeyOf = (chassis: Chassis) => string | null;

const serialOf: KeyOf = ({ serial_number }) => serial_number;
const positionOf: KeyOf = ({ position }) => `${position}`;
const positionUnserialed: KeyOf = ({ position, serial_number }) => (serial_number === null ? `${position}` : null);
const both: KeyOf = ({ position, serial_number }) => (serial_number === null ? null : `${position}/${serial_number}`);
/** Matching keys of a reported chassis and of its stored component, best first. */
const KEYS: ReadonlyArray<readonly [reported: KeyOf, stored: KeyOf]> = [
  [both, both],
  [serialOf, serialOf],
  [positionUnserialed, positionOf],
  [positionOf, positionUnserialed],
];

/** Pure. */
export function matchComponents<Reported extends Chassis, Stored extends Chassis>(
  reported: readonly Reported[],
  stored: readonly Stored[],
): Map<Reported, Stored> {
  const matched = new Map<Reported, Stored>();
  const taken = new Set<Stored>();
  for (const [reportedKey, storedKey] of KEYS) {
    const free = Map.groupBy(
      stored.filter((each) => !taken.has(each)),
      storedKey,
    );
    for (const each of reported) {
      const key = reportedKey(each);
      const found = key === null || matched.has(each) ? undefined : free.get(key)?.pop();
      if (found === undefined) continue;
      matched.set(each, found);
      taken.add(found);
    }
  }
  return matched;
}
