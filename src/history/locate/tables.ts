// Which devices' own MAC addresses were learned at the ports where it matters: the rows of a forwarding table are read only where
// two switches contend for the subject. Reads through RecordsAt alone; places.ts says which ports contend.

import { parseMac } from "../../base/mac.ts";
import { fdbEntryKind } from "../../resources/fdb-entries/fdb-entry.ts";
import { hostKind } from "../../resources/hosts/host.ts";
import type { IfEntryRecord } from "../../resources/if-entries/if-entry.ts";
import { LISTED_MAX, type RecordRef, type Subject } from "./facts.ts";
import { hostsByMac } from "./far-ends.ts";
import { contestedPorts } from "./places.ts";
import type { Known, RecordsAt } from "../records-at.ts";

/** What is learned of one port may bring another one into question: so often at most. */
const ROUNDS_MAX = 4;
/** Tables that are read in one round. */
const TABLES_MAX = 8;

/**
 * The subject with what the tables of the ports tell that contend for it.
 * @param ports by their ids
 */
export function withTables(records: RecordsAt, ports: ReadonlyMap<string, Known<IfEntryRecord>>, subject: Subject): Subject {
  let known = subject;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const contested = contestedPorts(known).slice(0, TABLES_MAX);
    if (contested.length === 0) return known;
    const learned = new Map(contested.map(({ ref }) => [ref.id, devicesAt(records, ports.get(ref.id), known)]));
    known = {
      ...known,
      sightings: known.sightings.map((sighting) => {
        const leadsTo = learned.get(sighting.port.ref.id);
        return leadsTo === undefined ? sighting : { ...sighting, port: { ...sighting.port, leadsTo } };
      }),
    };
  }
  return known;
}

/** The other devices that forward to the subject and of which one's own MAC address was learned at the port. */
function devicesAt(records: RecordsAt, port: Known<IfEntryRecord> | undefined, { sightings, mac }: Subject): RecordRef[] {
  if (port === undefined) return [];
  const others = new Map(sightings.filter((each) => each.port.device.ref.id !== port.record.host_id).map((each) => [each.port.device.ref.id, each.port.device.ref]));
  const rows = records.livingIn(fdbEntryKind, port.n, ROWS_MAX);
  const macs = new Set(rows.map(({ record }) => record.mac_address).filter((each) => each !== mac));
  const owners = new Set([...hostsByMac(records, [...macs]).values()].flat().map(({ record }) => record.id));
  for (const { record } of records.byIds(hostKind, others.keys()).values()) {
    if (record.chassis_id !== null && macs.has(parseMac(record.chassis_id) ?? "")) owners.add(record.id);
  }
  return [...others].flatMap(([id, ref]) => (owners.has(id) ? [ref] : []));
}

/** As many as there are at a port that is listed, where each MAC address may be in several VLANs. */
const ROWS_MAX = 4 * LISTED_MAX;
