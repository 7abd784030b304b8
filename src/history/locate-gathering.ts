// From who may be meant to what is known of each: the ports with their devices and far ends, subnets and VLANs. The second of the
// two steps from a question to facts. Reads through RecordsAt alone; judges nothing.

import { fdbEntryKind, type FdbEntryRecord } from "../resources/fdb-entries/fdb-entry.ts";
import { hostKind, type HostRecord } from "../resources/hosts/host.ts";
import { ifEntryKind, type IfEntryRecord } from "../resources/if-entries/if-entry.ts";
import type { IpAddressRecord } from "../resources/ip-addresses/ip-address.ts";
import { subnetKind } from "../resources/subnets/subnet.ts";
import { vlanKind, type VlanRecord } from "../resources/vlans/vlan.ts";
import { addressRef, draftsOf, hostRef, portRef, type Draft } from "./locate-drafts.ts";
import { CROWDS, crowdOf, type AddressFact, type Asked, type Facts, type HostFact, type LinkFact, type PortFact, type Sighting, type Subject, type VlanFact } from "./locate-facts.ts";
import { announcedName, farEnds, linkSource } from "./locate-far-ends.ts";
import type { CountRange, Known, RecordsAt } from "./records-at.ts";

/** What is known of `asked` as of the instant that `records` is of. */
export function gather(records: RecordsAt, asked: Asked): Facts {
  return new Gathering(records).facts(asked);
}

class Gathering {
  private readonly records: RecordsAt;
  /** By record number, whether a host has a forwarding table. */
  private readonly switches = new Map<number, boolean>();

  constructor(records: RecordsAt) {
    this.records = records;
  }

  facts(asked: Asked): Facts {
    const { drafts, isCutShort } = draftsOf(this.records, asked);
    const interfaces = drafts.flatMap((draft) => [...draft.interfaces.values()]);
    const seen = this.records.byIds(ifEntryKind, drafts.flatMap(({ entries }) => entries.map(({ record }) => record.if_entry_id)));
    const far = this.records.byIds(ifEntryKind, interfaces.map(({ neighbor }) => (neighbor?.type === "IfEntry" ? neighbor.id : null)));
    const farHosts = this.records.byIds(hostKind, interfaces.map(({ neighbor }) => (neighbor?.type === "Host" ? neighbor.id : null)));
    const announcing = drafts.flatMap(({ announcements }) => announcements.map(({ port }) => port));
    const ports = this.portFacts([...new Set([...seen.values(), ...far.values(), ...announcing])], drafts);
    this.learnSwitches([...farHosts.values(), ...drafts.flatMap(({ host }) => (host === null ? [] : [host]))]);
    const addresses = this.addressFacts(drafts.flatMap(({ address }) => (address === null ? [] : [address.record])));
    const subjects = drafts.map((draft): Subject => ({
      networkId: draft.networkId,
      host: draft.host === null ? null : this.hostFact(draft.host),
      address: addresses.get(draft.address?.record.id ?? "") ?? null,
      mac: draft.mac,
      identities: draft.identities,
      sightings: sightingsOf(draft, ports),
      links: [...announcedLinks(draft, ports), ...this.ownLinks(draft, ports, farHosts)],
    }));
    return { asked, subjects, vlans: this.vlanFacts(subjects), isCutShort };
  }

  private portFacts(ports: readonly Known<IfEntryRecord>[], drafts: readonly Draft[]): Map<string, PortFact> {
    const devices = this.records.byIds(hostKind, ports.map(({ record }) => record.host_id));
    const ends = farEnds(this.records, ports.map(({ record }) => record));
    this.learnSwitches([...devices.values(), ...[...ends.values()].map(({ host }) => host)]);
    const rangeOf = crowdRanges(ports, drafts);
    const counts = this.records.counts(fdbEntryKind, ports.map(({ n }) => n), rangeOf);
    const facts = new Map<string, PortFact>();
    for (const { n, record } of ports) {
      const device = devices.get(record.host_id);
      if (device === undefined) continue;
      const end = ends.get(record.id);
      const announced = announcedName(record);
      facts.set(record.id, {
        ref: portRef(record),
        ifIndex: record.if_index,
        ifDescr: record.if_descr,
        adminStatus: record.admin_status,
        operStatus: record.oper_status,
        device: this.hostFact(device),
        forwards: counts.get(n) ?? 0,
        neighbor: end === undefined && announced === null ? null : { source: end?.source ?? linkSource(record), host: end === undefined ? null : this.hostFact(end.host), announced },
        nativeVlanId: record.native_vlan_id ?? null,
        vlanIds: record.vlan_ids ?? [],
      });
    }
    return facts;
  }

  /** What a draft's own interfaces say of their far ends. */
  private ownLinks({ interfaces }: Draft, ports: ReadonlyMap<string, PortFact>, hosts: ReadonlyMap<string, Known<HostRecord>>): LinkFact[] {
    return [...interfaces.values()].flatMap((entry): LinkFact[] => {
      const { neighbor } = entry;
      const told = { source: linkSource(entry), isExact: true, reportedBy: portRef(entry), announced: null };
      const host = hosts.get(neighbor?.id ?? "");
      if (host !== undefined) return [{ device: this.hostFact(host), port: null, ...told }];
      const port = ports.get(neighbor?.id ?? "");
      return port === undefined ? [] : [{ device: port.device, port, ...told }];
    });
  }

  private learnSwitches(hosts: readonly Known<HostRecord>[]): void {
    const unknown = hosts.map(({ n }) => n).filter((n) => !this.switches.has(n));
    const counts = this.records.counts(fdbEntryKind, unknown, (count) => (count === 0 ? { low: 0, high: 0 } : { low: 1, high: Number.MAX_SAFE_INTEGER }));
    for (const [n, count] of counts) this.switches.set(n, count > 0);
  }

  private hostFact({ n, record }: Known<HostRecord>): HostFact {
    return { ref: hostRef(record), hostname: record.hostname, isSwitch: this.switches.get(n) === true };
  }

  private addressFacts(addresses: readonly IpAddressRecord[]): Map<string, AddressFact> {
    const subnets = this.records.byIds(subnetKind, addresses.map(({ subnet_id: id }) => id));
    const vlans = this.records.byIds(vlanKind, [...subnets.values()].map(({ record }) => record.vlan_id));
    return new Map(
      addresses.map((address) => {
        const subnet = subnets.get(address.subnet_id)?.record;
        const vlan = vlans.get(subnet?.vlan_id ?? "")?.record;
        const ofSubnet = subnet === undefined ? null : { ref: { type: "subnet" as const, id: subnet.id, name: subnet.name, valid_from: subnet.valid_from }, cidr: subnet.cidr, vlan: vlan === undefined ? null : vlanFact(vlan) };
        return [address.id, { ref: addressRef(address), ipAddress: address.ip_address, subnet: ofSubnet }];
      }),
    );
  }

  /** The VLANs that may have to be named: by the numbers of rows, and those of ports that are in one or have a native one. */
  private vlanFacts(subjects: readonly Subject[]): Map<string, VlanFact> {
    const facts = new Map<string, VlanFact>();
    const sightings = subjects.flatMap((subject) => subject.sightings.map((sighting) => ({ ...sighting, networkId: subject.networkId })));
    const ports = [...sightings.map(({ port }) => port), ...subjects.flatMap(({ links }) => links.flatMap(({ port }) => (port === null ? [] : [port])))];
    for (const { record } of this.records.byIds(vlanKind, ports.flatMap(({ nativeVlanId, vlanIds }) => [nativeVlanId, vlanIds.length === 1 ? vlanIds[0] : null])).values()) facts.set(record.id, vlanFact(record));
    for (const [networkId, seen] of Map.groupBy(sightings, (sighting) => sighting.networkId)) {
      const numbers = new Set(seen.flatMap(({ entries }) => entries.map(({ vlanNumber }) => vlanNumber)).filter((number) => number !== null));
      const networkN = numbers.size === 0 ? null : this.records.numberOf(networkId);
      if (networkN === null) continue;
      for (const { record } of this.records.livingWith(vlanKind, networkN, "number", [...numbers])) facts.set(`${networkId}/${record.number}`, vlanFact(record));
    }
    return facts;
  }
}

/** A busy port's table changes all the time: only its order of magnitude matters, for each draft that is seen there. */
function crowdRanges(ports: readonly Known<IfEntryRecord>[], drafts: readonly Draft[]): (count: number, n: number) => CountRange {
  const ids = new Map(ports.map(({ n, record }) => [n, record.id]));
  const own = new Map<string, Set<number>>();
  for (const { entries } of drafts) {
    for (const [portId, rows] of Map.groupBy(entries, ({ record }) => record.if_entry_id)) own.set(portId, (own.get(portId) ?? new Set()).add(rows.length));
  }
  return (count, n) => {
    const ranges = [...(own.get(ids.get(n) ?? "") ?? [0])].map((mine) => {
      const { low, high } = CROWDS[crowdOf(Math.max(0, count - mine))] as (typeof CROWDS)[number];
      return { low: low === 0 ? 0 : low + mine, high: high + mine };
    });
    return { low: Math.max(...ranges.map(({ low }) => low)), high: Math.min(...ranges.map(({ high }) => high), Number.MAX_SAFE_INTEGER) };
  };
}

function sightingsOf({ entries }: Draft, ports: ReadonlyMap<string, PortFact>): Sighting[] {
  return [...Map.groupBy(entries, ({ record }) => record.if_entry_id)].flatMap(([portId, rows]) => {
    const port = ports.get(portId);
    return port === undefined ? [] : [{ port, entries: rows.map(({ record }) => ({ ref: entryRef(record), vlanNumber: record.vlan_number })) }];
  });
}

function announcedLinks({ announcements }: Draft, ports: ReadonlyMap<string, PortFact>): LinkFact[] {
  return announcements.flatMap(({ port: { record }, called, isExact }) => {
    const port = ports.get(record.id);
    return port === undefined ? [] : [{ device: port.device, port, source: linkSource(record), isExact, reportedBy: port.ref, announced: called }];
  });
}

function entryRef({ id, mac_address: name, valid_from }: FdbEntryRecord): Sighting["entries"][number]["ref"] {
  return { type: "fdb_entry", id, name, valid_from };
}

function vlanFact({ id, name, number, valid_from }: VlanRecord): VlanFact {
  return { ref: { type: "vlan", id, name, valid_from }, number };
}
