// Ports with their parts at one point in time: an aggregate with its members, a port with its units. Reads through
// RecordsAt.

import { exactTerm } from "../../db/search-text.ts";
import { type IfEntryRecord, ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { stackedEntry } from "../../resources/if-entries/link-index-entries.ts";
import { PortStack } from "../port-stack.ts";
import type { NumberedRecord, RecordsAt } from "../records-at.ts";
import { matchingAny } from "./far-ends.ts";

type Port = NumberedRecord<IfEntryRecord>;

export interface PortWithParts {
  /** The port or aggregate. */
  readonly place: Port;
  /** Its members and units, and the units of its members, by ifIndex. */
  readonly parts: readonly Port[];
  readonly members: readonly Port[];
}

/** Layers between a unit and the aggregate of its port. */
const LAYERS_MAX = 3;

/** The groups of some interfaces, by the id of each interface in them. */
export function portGroups(records: RecordsAt, ports: readonly Port[]): Map<string, PortWithParts> {
  const known = new Map(ports.map((port) => [port.record.id, port]));
  let reached: readonly Port[] = ports;
  for (let layer = 0; layer < LAYERS_MAX && reached.length > 0; layer += 1) {
    const carriers = reached.flatMap(({ record }) => [record.parent_id, record.lag_id]);
    reached = added(known, records.byIds(ifEntryKind, carriers).values());
  }
  reached = [...known.values()];
  for (let layer = 0; layer < LAYERS_MAX && reached.length > 0; layer += 1) {
    const queries = reached.map(({ record }) => exactTerm(stackedEntry(record.id)));
    reached = added(known, matchingAny(records, ifEntryKind, queries));
  }
  const stack = new PortStack(known.values().map(({ record }) => record));
  const groups = new Map<string, PortWithParts>();
  const portsOf = (ids: readonly string[]) =>
    ids.map((id) => known.get(id) as Port).sort((left, right) => left.record.if_index - right.record.if_index);
  for (const [id, port] of known) {
    const placeId = stack.placeOf(id);
    const place = known.get(placeId) ?? port;
    const members = portsOf(stack.membersOf(placeId));
    const group = groups.get(placeId) ?? { place, parts: portsOf(stack.partsOf(placeId)), members };
    groups.set(placeId, group);
    groups.set(id, group);
  }
  return groups;
}

/** Adds ports. @returns the new ones */
function added(known: Map<string, Port>, found: Iterable<Port>): Port[] {
  const news = [...found].filter(({ record }) => !known.has(record.id));
  for (const port of news) known.set(port.record.id, port);
  return news;
}
