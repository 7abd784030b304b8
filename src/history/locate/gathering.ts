// Facts from drafts: ports with devices and far ends, subnets and VLANs. The second of the two steps from a query to
// facts. Reads through RecordsAt only, without judgement.

import type { FdbEntryRecord } from "../../resources/fdb-entries/fdb-entry.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import type { IpAddressRecord } from "../../resources/ip-addresses/ip-address.ts";
import { subnetKind } from "../../resources/subnets/subnet.ts";
import { type VlanRecord, vlanKind } from "../../resources/vlans/vlan.ts";
import type { Known, RecordsAt } from "../records-at.ts";
import { addressRef, draftsOf, type LocationDraft, portRef } from "./drafts.ts";
import type { AddressFact, Facts, LinkFact, LocateQuestion, PortFact, Sighting, Subject, VlanFact } from "./facts.ts";
import { linkSource } from "./far-ends.ts";
import { HostFacts, portFacts } from "./ports.ts";
import { Tables } from "./tables.ts";

/** Facts about `asked`, as of the transaction of `records`. Yields between steps of a few milliseconds. */
export function gather(records: RecordsAt, asked: LocateQuestion): Generator<void, Facts> {
  return new Gathering(records).facts(asked);
}

class Gathering {
  private readonly records: RecordsAt;
  private readonly hosts: HostFacts;

  constructor(records: RecordsAt) {
    this.records = records;
    this.hosts = new HostFacts(records);
  }

  *facts(asked: LocateQuestion): Generator<void, Facts> {
    const { drafts, isCutShort } = yield* draftsOf(this.records, asked);
    yield;
    const interfaces = drafts.flatMap((draft) => [...draft.interfaces.values()]);
    const seen = this.records.byIds(
      ifEntryKind,
      drafts.flatMap(({ entries }) => entries.map(({ record }) => record.if_entry_id)),
    );
    const far = this.records.byIds(
      ifEntryKind,
      interfaces.map(({ neighbor }) => (neighbor?.type === "IfEntry" ? neighbor.id : null)),
    );
    const farHosts = this.records.byIds(
      hostKind,
      interfaces.map(({ neighbor }) => (neighbor?.type === "Host" ? neighbor.id : null)),
    );
    const announcing = drafts.flatMap(({ announcements }) => announcements.map(({ port }) => port));
    const known = new Map([...seen.values(), ...far.values(), ...announcing].map((port) => [port.record.id, port]));
    const ports = portFacts(this.records, this.hosts, [...known.values()], drafts);
    this.hosts.learn([...farHosts.values(), ...drafts.flatMap(({ host }) => (host === null ? [] : [host]))]);
    yield;
    const tables = new Tables(this.records, known);
    const addresses = this.addressFacts(drafts.flatMap(({ address }) => (address === null ? [] : [address.record])));
    const subjects: Subject[] = [];
    for (const draft of drafts) {
      const subject = {
        networkId: draft.networkId,
        host: draft.host === null ? null : this.hosts.fact(draft.host),
        address: addresses.get(draft.address?.record.id ?? "") ?? null,
        mac: draft.mac,
        identities: draft.identities,
        sightings: sightingsOf(draft, ports),
        links: [...announcedLinks(draft, ports), ...this.ownLinks(draft, ports, farHosts)],
      };
      subjects.push(yield* tables.settled(subject));
    }
    return { asked, subjects, vlans: this.vlanFacts(subjects), isCutShort };
  }

  /** Far ends reported by a draft's own interfaces. */
  private ownLinks(
    { interfaces }: LocationDraft,
    ports: ReadonlyMap<string, PortFact>,
    hosts: ReadonlyMap<string, Known<HostRecord>>,
  ): LinkFact[] {
    return [...interfaces.values()].flatMap((entry): LinkFact[] => {
      const { neighbor } = entry;
      const told = { source: linkSource(entry), isExact: true, reportedBy: portRef(entry), announced: null };
      const host = hosts.get(neighbor?.id ?? "");
      if (host !== undefined) return [{ device: this.hosts.fact(host), port: null, ...told }];
      const port = ports.get(neighbor?.id ?? "");
      return port === undefined ? [] : [{ device: port.device, port, ...told }];
    });
  }

  private addressFacts(addresses: readonly IpAddressRecord[]): Map<string, AddressFact> {
    const subnets = this.records.byIds(
      subnetKind,
      addresses.map(({ subnet_id: id }) => id),
    );
    const vlans = this.records.byIds(
      vlanKind,
      [...subnets.values()].map(({ record }) => record.vlan_id),
    );
    return new Map(
      addresses.map((address) => {
        const subnet = subnets.get(address.subnet_id)?.record;
        const vlan = vlans.get(subnet?.vlan_id ?? "")?.record;
        const ofSubnet =
          subnet === undefined
            ? null
            : {
                ref: {
                  entity_type: "subnet" as const,
                  id: subnet.id,
                  name: subnet.name,
                  valid_from: subnet.valid_from,
                },
                cidr: subnet.cidr,
                vlan: vlan === undefined ? null : vlanFact(vlan),
              };
        return [address.id, { ref: addressRef(address), ipAddress: address.ip_address, subnet: ofSubnet }];
      }),
    );
  }

  /**
   * VLANs that the answer may name: by the numbers of forwarding entries, and those of ports with a single or native
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
    for (const { record } of this.records
      .byIds(
        vlanKind,
        ports.flatMap(({ nativeVlanId, vlanIds }) => [nativeVlanId, vlanIds.length === 1 ? vlanIds[0] : null]),
      )
      .values())
      facts.set(record.id, vlanFact(record));
    for (const [networkId, seen] of Map.groupBy(sightings, (sighting) => sighting.networkId)) {
      const numbers = new Set(
        seen.flatMap(({ entries }) => entries.map(({ vlanNumber }) => vlanNumber)).filter((number) => number !== null),
      );
      const networkN = numbers.size === 0 ? null : this.records.numberOf(networkId);
      if (networkN === null) continue;
      for (const { record } of this.records.livingWith(vlanKind, networkN, "number", [...numbers]))
        facts.set(`${networkId}/${record.number}`, vlanFact(record));
    }
    return facts;
  }
}

function sightingsOf({ entries }: LocationDraft, ports: ReadonlyMap<string, PortFact>): Sighting[] {
  return [...Map.groupBy(entries, ({ record }) => record.if_entry_id)].flatMap(([portId, rows]) => {
    const port = ports.get(portId);
    return port === undefined
      ? []
      : [{ port, entries: rows.map(({ record }) => ({ ref: entryRef(record), vlanNumber: record.vlan_number })) }];
  });
}

function announcedLinks({ announcements }: LocationDraft, ports: ReadonlyMap<string, PortFact>): LinkFact[] {
  return announcements.flatMap(({ port: { record }, called, isExact }) => {
    const port = ports.get(record.id);
    return port === undefined
      ? []
      : [{ device: port.device, port, source: linkSource(record), isExact, reportedBy: port.ref, announced: called }];
  });
}

function entryRef({ id, mac_address: name, valid_from }: FdbEntryRecord): Sighting["entries"][number]["ref"] {
  return { entity_type: "fdb_entry", id, name, valid_from };
}

function vlanFact({ id, name, number, valid_from }: VlanRecord): VlanFact {
  return { ref: { entity_type: "vlan", id, name, valid_from }, number };
}
