// Links between the interfaces of a network, from stored data to writes: only differences, only if still valid, and
// never over manual values.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { CommandActor } from "../../src/access/actor.ts";
import type { AsOf } from "../../src/db/reading/list-query.ts";
import type { Author } from "../../src/db/writing/ledger.ts";
import { linkNeighbors } from "../../src/discovery/reconcile/link-neighbors.ts";
import type { Recorded } from "../../src/discovery/sightings.ts";
import { linksOf, type NeighborLink, neighborChangesOf } from "../../src/discovery/topology/find-links.ts";
import { networkFacts } from "../../src/discovery/topology/network-facts.ts";
import { type HostRecord, hostKind } from "../../src/resources/hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { removeRecord } from "../../src/resources/ignored/removal.ts";
import { networkKind } from "../../src/resources/networks/network.ts";
import { hostFields, ifEntryFields, networkFields, Store } from "../support/store/store.ts";

const SCAN_ID = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0099";

let store: Store;
let core: HostRecord;
let access: HostRecord;
let uplink: IfEntryRecord;
let downlink: IfEntryRecord;

beforeEach(() => {
  store = new Store();
  [core, access] = [newHost("core"), newHost("access")];
  downlink = newPort(core, 1, "Te1/1");
  uplink = newPort(access, 1, "Te1/48", lldp("core", "Te1/1"));
  newPort(access, 2, "Gi1/1");
});
afterEach(() => store.close());

function newHost(name: string, fields: Partial<HostRecord> = {}): HostRecord {
  return store.create(hostKind, hostFields(store.networkId, name, { sys_name: name, ...fields }));
}

function newPort(host: HostRecord, index: number, name: string, fields: Partial<IfEntryRecord> = {}): IfEntryRecord {
  return store.create(ifEntryKind, ifEntryFields(host, index, { if_name: name, ...fields }));
}

function lldp(sysName: string, portName: string): Partial<IfEntryRecord> {
  return { lldp_sys_name: sysName, lldp_port_id: { subtype: "InterfaceName", value: portName } };
}

const userAuthor = { type: "User", id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0077", name: "Ada", requestId: null } as Author;

const factsAt = (asOf?: AsOf) => networkFacts(store.reader, store.n(store.networkId), asOf);
const pendingLinks = (): NeighborLink[] => [...neighborChangesOf(factsAt()).links];

function write(links: readonly NeighborLink[]): { sequence: number | null; result: Recorded } {
  const { organizationId, networkId } = store;
  const author = { type: "Discovery", id: SCAN_ID, name: "full scan", organizationId, requestId: null } as const;
  const scanner: CommandActor = { ...author, userId: null, role: "Owner", networkIds: [networkId] };
  return store.run((tx) => linkNeighbors(tx, { scan_id: SCAN_ID, network_id: networkId, links }, scanner), scanner);
}

/** Links the neighbors, as a scan does. */
function link(): { sequence: number | null; result: Recorded } {
  return write(pendingLinks());
}

const live = (id: string): IfEntryRecord => store.write((tx) => tx.find(ifEntryKind, id)) as IfEntryRecord;

describe("linking", () => {
  test("sets both ends of a link announced by one of them, in one version each, and nothing the second time", () => {
    const { result } = link();
    expect(live(uplink.id).neighbor).toEqual({ type: "IfEntry", id: downlink.id });
    expect(live(downlink.id).neighbor).toEqual({ type: "IfEntry", id: uplink.id });
    expect(result.records.if_entries).toEqual({ created: 0, updated: 2, deleted: 0 });
    expect(result.hosts).toEqual([]);
    expect(result.findings.map(({ type, label, reason }) => `${type} ${label}: ${reason}`).sort()).toEqual([
      "Changed access: the far ends of its links were resolved",
      "Changed core: the far ends of its links were resolved",
    ]);
    expect(store.versions(uplink.id)).toHaveLength(2);
    expect(pendingLinks()).toEqual([]);
    expect([...linksOf(store.reader, store.n(store.networkId)).find()]).toEqual([]);
  });

  test("reads nothing for interfaces without announcements", () => {
    const steps = [...linksOf(store.reader, store.n(store.networkId)).find()];
    const ids = steps.map(({ links }) => links.map(({ if_entry_id }) => if_entry_id).sort());
    expect(ids).toEqual([[downlink.id, uplink.id].sort()]);
  });

  test("covers an entire network with any number of interfaces", () => {
    store.write((tx) => {
      for (let k = 0; k < 2_500; k += 1) tx.create(ifEntryKind, store.organizationId, ifEntryFields(access, 1_000 + k));
    });
    const latePort = newPort(core, 2, "Te1/2", lldp("access", "eth3499"));
    expect(factsAt().ports).toHaveLength(2_504);
    link();
    expect(live(latePort.id).neighbor?.type).toBe("IfEntry");
  });

  test("uses the state at the requested timestamp", () => {
    const before = store.reader.atSequence(store.reader.head().sequence);
    link();
    expect(factsAt(before).ports.every(({ neighbor }) => neighbor === null)).toBe(true);
    expect(factsAt().ports.filter(({ neighbor }) => neighbor !== null)).toHaveLength(2);
  });

  test("omits changed announcements, deleted interfaces, and deleted far ends", () => {
    const computed = pendingLinks();
    const announce = (value: string) =>
      store.write((tx) => tx.update(ifEntryKind, uplink.id, { lldp_port_id: { subtype: "InterfaceName", value } }));
    announce("Te1/9");
    store.write((tx) => removeRecord(tx, ifEntryKind, downlink.id, true));
    const { sequence, result } = write(computed);
    expect(sequence).toBeNull();
    expect(result).toEqual({ records: {}, findings: [], hosts: [] });
    announce("Te1/1");
    expect(write(computed).sequence).toBeNull();
    expect(live(uplink.id).neighbor).toBeUndefined();
  });

  test("clears a neighbor no longer announced, at both ends", () => {
    link();
    store.write((tx) => tx.update(ifEntryKind, uplink.id, { lldp_sys_name: undefined, lldp_port_id: undefined }));
    expect(pendingLinks()).toHaveLength(2);
    link();
    expect([live(uplink.id).neighbor, live(downlink.id).neighbor]).toEqual([undefined, undefined]);
  });

  test("keeps manual values, including empty ones, with the announcement next to them", () => {
    const manual = newPort(core, 2, "Te1/2");
    link();
    store.run((tx) => tx.update(ifEntryKind, uplink.id, { neighbor: { type: "IfEntry", id: manual.id } }), userAuthor);
    store.run((tx) => tx.update(ifEntryKind, downlink.id, { neighbor: undefined }), userAuthor);
    link();
    expect(live(uplink.id)).toMatchObject({
      neighbor: { type: "IfEntry", id: manual.id },
      discovered: { neighbor: { type: "IfEntry", id: downlink.id } },
    });
    expect(live(downlink.id)).toMatchObject({ discovered: { neighbor: { type: "IfEntry", id: uplink.id } } });
    expect(live(downlink.id).neighbor).toBeUndefined();
    expect(link().sequence).toBeNull();
    store.write((tx) => tx.update(ifEntryKind, uplink.id, { lldp_sys_name: undefined, lldp_port_id: undefined }));
    link();
    expect(live(uplink.id).neighbor).toEqual({ type: "IfEntry", id: manual.id });
    expect(live(uplink.id).discovered).toBeUndefined();
    expect(link().sequence).toBeNull();
  });

  test("sets the far end of each of several announcements, until they are removed", () => {
    const announced = {
      protocol: "Lldp",
      sys_name: "printer",
      port_id: { subtype: "InterfaceName", value: "eth0" },
      sys_desc: "a printer",
    } as const;
    const unknown = { protocol: "Cdp", device_id: "nobody" } as const;
    const hub = newPort(core, 5, "Te1/5", { ...lldp("access", "Gi1/1"), more_neighbors: [announced, unknown] });
    const printer = newHost("printer");
    const printerPort = newPort(printer, 1, "eth0");
    link();
    const neighbor = { type: "IfEntry", id: printerPort.id } as const;
    expect(live(hub.id).more_neighbors).toEqual([{ ...announced, neighbor }, unknown]);
    expect(live(printerPort.id).neighbor).toEqual({ type: "IfEntry", id: hub.id });
    expect(link().sequence).toBeNull();
    store.write((tx) => removeRecord(tx, hostKind, printer.id, true));
    expect(live(hub.id).more_neighbors?.map(({ neighbor }) => neighbor)).toEqual([undefined, undefined]);
    expect(pendingLinks()).toEqual([]);
  });

  test("stays within its network", () => {
    const otherNetworkId = store.create(networkKind, networkFields(store.organizationId, "elsewhere")).id;
    const foreignHost = store.create(hostKind, hostFields(otherNetworkId, "stranger", { sys_name: "stranger" }));
    const farPort = store.create(ifEntryKind, ifEntryFields(foreignHost, 1, { if_name: "Gi1" }));
    const nearPort = newPort(access, 7, "Gi1/7", lldp("stranger", "Gi1"));
    link();
    expect(live(nearPort.id).neighbor).toBeUndefined();
    expect(pendingLinks()).toEqual([]);
    const fingerprint = factsAt().ports.find(({ id }) => id === nearPort.id)?.fingerprint as string;
    const forged = { if_entry_id: nearPort.id, fingerprint, more: [] };
    const written = write([
      { ...forged, neighbor: { type: "IfEntry", id: farPort.id } },
      { ...forged, if_entry_id: farPort.id, neighbor: { type: "IfEntry", id: nearPort.id } },
      { ...forged, neighbor: { type: "Host", id: access.id } },
    ]);
    expect(written.sequence).toBeNull();
  });
});
