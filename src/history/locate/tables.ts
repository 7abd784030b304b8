// Device MAC addresses learned on contested ports (places.ts). Reads forwarding tables only if two switches may both
// have the subject. Reads through RecordsAt.

import { parseMac } from "../../base/mac.ts";
import { fdbEntryKind } from "../../resources/fdb-entries/fdb-entry.ts";
import { hostKind } from "../../resources/hosts/host.ts";
import type { RecordsAt } from "../records-at.ts";
import { LISTED_MAX, type RecordRef, type Subject } from "./facts.ts";
import { hostsByMac } from "./far-ends.ts";
import { contestedPorts } from "./places.ts";
import type { PortWithParts } from "./port-groups.ts";

/** Each port may make another one contested. */
const ROUNDS_MAX = 4;
/** Tables per round. */
const TABLES_MAX = 8;
/** Maximum rows of a listed port, with MAC addresses in several VLANs. */
const ROWS_MAX = 4 * LISTED_MAX;

/** Cache per response: each table is read once, each MAC address looked up once. */
export class Tables {
  private readonly records: RecordsAt;
  private readonly groups: ReadonlyMap<string, PortWithParts>;
  private readonly macsAt = new Map<string, ReadonlySet<string>>();
  /** Host ids by MAC address. */
  private readonly ownersOf = new Map<string, readonly string[]>();

  constructor(records: RecordsAt, groups: ReadonlyMap<string, PortWithParts>) {
    this.records = records;
    this.groups = groups;
  }

  /** The subject with learned devices on its contested ports. Yields after each table. */
  *withLearnedDevices(subject: Subject): Generator<void, Subject> {
    let known = subject;
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const contested = contestedPorts(known).slice(0, TABLES_MAX);
      if (contested.length === 0) return known;
      const learned = new Map<string, RecordRef[]>();
      for (const { ref } of contested) {
        learned.set(ref.id, this.devicesAt(ref.id, known));
        yield;
      }
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

  /** Other devices that forward to the subject and whose MAC address was learned on the port. */
  private devicesAt(portId: string, { sightings, mac }: Subject): RecordRef[] {
    const group = this.groups.get(portId);
    if (group === undefined) return [];
    const others = new Map(
      sightings
        .filter((each) => each.port.device.ref.id !== group.place.record.host_id)
        .map((each) => [each.port.device.ref.id, each.port.device.ref]),
    );
    const macs = [...this.macs(group)].filter((each) => each !== mac);
    this.lookUp(macs);
    const owners = new Set(macs.flatMap((each) => this.ownersOf.get(each) ?? []));
    const present = new Set(macs);
    for (const { record } of this.records.byIds(hostKind, others.keys()).values()) {
      if (record.chassis_id !== null && present.has(parseMac(record.chassis_id) ?? "")) owners.add(record.id);
    }
    return [...others].flatMap(([id, ref]) => (owners.has(id) ? [ref] : []));
  }

  private macs({ place, parts }: PortWithParts): ReadonlySet<string> {
    const known = this.macsAt.get(place.record.id);
    if (known !== undefined) return known;
    const rows = [place, ...parts].flatMap(({ n }) => this.records.childrenOf(fdbEntryKind, n, ROWS_MAX));
    const macs = new Set(rows.map(({ record }) => record.mac_address));
    this.macsAt.set(place.record.id, macs);
    return macs;
  }

  private lookUp(macs: readonly string[]): void {
    const unknown = macs.filter((mac) => !this.ownersOf.has(mac));
    if (unknown.length === 0) return;
    const hosts = hostsByMac(this.records, unknown);
    for (const mac of unknown) {
      const ids = (hosts.get(mac) ?? []).map(({ record }) => record.id);
      this.ownersOf.set(mac, ids);
    }
  }
}
