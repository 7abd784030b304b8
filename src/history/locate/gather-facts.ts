// Facts from drafts: ports with devices and far ends, subnets and VLANs. The second of the two steps from a query to
// facts. Reads through RecordsAt only, and does not rate its findings.

import type { FdbEntryRecord } from "../../resources/fdb-entries/fdb-entry.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import type { IpAddressRecord } from "../../resources/ip-addresses/ip-address.ts";
import { type SubnetRecord, subnetKind } from "../../resources/subnets/subnet.ts";
import { type VlanRecord, vlanKind } from "../../resources/vlans/vlan.ts";
import type { NumberedRecord, RecordsAt } from "../records-at.ts";
import { addressRef, collectDrafts, type LocationDraft, portRef } from "./drafts.ts";
import type { AddressFact, Facts, LinkFact, LocateTerm, PortFact, Sighting, Subject, VlanFact } from "./facts.ts";
import { linkSource } from "./far-ends.ts";
import { type PortWithParts, portGroups } from "./port-groups.ts";
import { HostFacts, portFacts } from "./ports.ts";
import { Tables } from "./tables.ts";

/** Facts about the query, as of the transaction of `records`. Yields between steps of a few milliseconds. */
export function gather(records: RecordsAt, term: LocateTerm): Generator<void, Facts> {
  return new FactGatherer(records).facts(term);
}

class FactGatherer {
  private readonly records: RecordsAt;
  private readonly hosts: HostFacts;

  constructor(records: RecordsAt) {
    this.records = records;
    this.hosts = new HostFacts(records);
  }

  *facts(term: LocateTerm): Generator<void, Facts> {
    const { drafts, isTruncated: isCutShort } = yield* collectDrafts(this.records, term);
    yield;
    const interfaces = drafts.flatMap((draft) => [...draft.interfaces.values()]);
    const forwardingIds = drafts.flatMap(({ entries }) => entries.map(({ record }) => record.if_entry_id));
    const seen = this.records.byIds(ifEntryKind, forwardingIds);
    const neighborIds = (type: "IfEntry" | "Host") =>
      interfaces.map(({ neighbor }) => (neighbor?.type === type ? neighbor.id : null));
    const far = this.records.byIds(ifEntryKind, neighborIds("IfEntry"));
    const farHosts = this.records.byIds(hostKind, neighborIds("Host"));
    const announcingPorts = drafts.flatMap(({ announcements }) => announcements.map(({ port }) => port));
    const known = new Map(
      [...seen.values(), ...far.values(), ...announcingPorts].map((port) => [port.record.id, port]),
    );
    const groups = portGroups(this.records, [...known.values()]);
    yield;
    const ports = portFacts(this.records, this.hosts, [...new Set(groups.values())], drafts);
    this.hosts.prefetch([...farHosts.values(), ...drafts.flatMap(({ host }) => (host === null ? [] : [host]))]);
    yield;
    const tables = new Tables(this.records, groups);
    const addresses = this.addressFacts(drafts.flatMap(({ address }) => (address === null ? [] : [address.record])));
    const subjects: Subject[] = [];
    for (const draft of drafts) {
      const subject = {
        networkId: draft.networkId,
        host: draft.host === null ? null : this.hosts.fact(draft.host),
        address: addresses.get(draft.address?.record.id ?? "") ?? null,
        mac: draft.mac,
        identities: draft.identities,
        sightings: sightingsOf(draft, ports, groups),
        links: [...announcedLinks(draft, ports), ...this.ownLinks(draft, ports, farHosts)],
      };
      subjects.push(yield* tables.withLearnedDevices(subject));
    }
    return { term, subjects, vlans: this.vlanFacts(subjects), isTruncated: isCutShort };
  }

  /** Far ends reported by a draft's own interfaces. */
  private ownLinks(
    { interfaces }: LocationDraft,
    ports: ReadonlyMap<string, PortFact>,
    hosts: ReadonlyMap<string, NumberedRecord<HostRecord>>,
  ): LinkFact[] {
    return [...interfaces.values()].flatMap((entry): LinkFact[] => {
      const { neighbor } = entry;
      const common = { source: linkSource(entry), isExact: true, reportedBy: portRef(entry), announced: null };
      const host = hosts.get(neighbor?.id ?? "");
      if (host !== undefined) return [{ device: this.hosts.fact(host), port: null, ...common }];
      const port = ports.get(neighbor?.id ?? "");
      return port === undefined ? [] : [{ device: port.device, port, ...common }];
    });
  }

  private addressFacts(addresses: readonly IpAddressRecord[]): Map<string, AddressFact> {
    const subnetIds = addresses.map(({ subnet_id: id }) => id);
    const subnets = this.records.byIds(subnetKind, subnetIds);
    const vlanIds = [...subnets.values()].map(({ record }) => record.vlan_id);
    const vlans = this.records.byIds(vlanKind, vlanIds);
    return new Map(
      addresses.map((address) => {
        const subnet = subnets.get(address.subnet_id)?.record;
        const vlan = vlans.get(subnet?.vlan_id ?? "")?.record;
        const fact = subnet === undefined ? null : subnetFact(subnet, vlan);
        return [address.id, { ref: addressRef(address), ipAddress: address.ip_address, subnet: fact }];
      }),
    );
  }

  /**
   * VLANs that the response may name: by the numbers of forwarding entries, and those of ports with a single or native
   * VLAN.
   */
  private vlanFacts(subjects: readonly Subject[]): Map<string, VlanFact> {
    const facts = new Map<string, VlanFact>();
    const sightings = subjects.flatMap((subject) =>
      subject.sightings.map((sighting) => ({ ...sighting, networkId: subject.networkId })),
    );
    const ports = [
      ...sightings.map(({ port }) => port),
      ...subjects.flatMap(({ links }) => links.flatMap(({ port }) => (port === null ? [] : [port]))),
    ];
    const ids = ports.flatMap(({ nativeVlanId, vlanIds }) => [nativeVlanId, vlanIds.length === 1 ? vlanIds[0] : null]);
    for (const { record } of this.records.byIds(vlanKind, ids).values()) facts.set(record.id, vlanFact(record));
    for (const [networkId, seen] of Map.groupBy(sightings, (sighting) => sighting.networkId)) {
      const numbers = new Set(
        seen.flatMap(({ entries }) => entries.map(({ vlanNumber }) => vlanNumber)).filter((number) => number !== null),
      );
      const networkN = numbers.size === 0 ? null : this.records.numberOf(networkId);
      if (networkN === null) continue;
      for (const { record } of this.records.childrenWith(vlanKind, networkN, "number", [...numbers]))
        facts.set(`${networkId}/${record.number}`, vlanFact(record));
    }
    return facts;
  }
}

/** One per port: a station may be in several of its units. */
function sightingsOf(
  { entries }: LocationDraft,
  ports: ReadonlyMap<string, PortFact>,
  groups: ReadonlyMap<string, PortWithParts>,
): Sighting[] {
  const byPort = Map.groupBy(entries, ({ record }) => ports.get(record.if_entry_id));
  return [...byPort].flatMap(([port, rows]): Sighting[] => {
    if (port === undefined) return [];
    const learnedOn = new Set(rows.map(({ record }) => record.if_entry_id));
    const { parts = [] } = groups.get(port.ref.id) ?? {};
    const units = parts.filter(({ record }) => learnedOn.has(record.id) && record.parent_id !== undefined);
    return [
      {
        port,
        units: units.map(({ record }) => portRef(record)),
        entries: rows.map(({ record }) => ({ ref: entryRef(record), vlanNumber: record.vlan_number })),
      },
    ];
  });
}

function announcedLinks({ announcements }: LocationDraft, ports: ReadonlyMap<string, PortFact>): LinkFact[] {
  return announcements.flatMap(({ port: { record }, matchedName, isExact }) => {
    const port = ports.get(record.id);
    return port === undefined
      ? []
      : [
          {
            device: port.device,
            port,
            source: linkSource(record),
            isExact,
            reportedBy: portRef(record),
            announced: matchedName,
          },
        ];
  });
}

function entryRef({ id, mac_address: name, valid_from }: FdbEntryRecord): Sighting["entries"][number]["ref"] {
  return { entity_type: "fdb_entry", id, name, valid_from };
}

function subnetFact({ id, name, valid_from, cidr }: SubnetRecord, vlan: VlanRecord | undefined): AddressFact["subnet"] {
  const ref = { entity_type: "subnet" as const, id, name, valid_from };
  return { ref, cidr, vlan: vlan === undefined ? null : vlanFact(vlan) };
}

function vlanFact({ id, name, number, valid_from }: VlanRecord): VlanFact {
  return { ref: { entity_type: "vlan", id, name, valid_from }, number };
}
