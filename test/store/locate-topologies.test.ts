// Locate on constructed and random networks whose stations have known locations.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { OwnFields } from "../../src/db/kind.ts";
import { locationAt } from "../../src/history/locate/locate.ts";
import type { Candidate, Interval, PresentLocation } from "../../src/history/locate/locate-schema.ts";
import { locateTimeline } from "../../src/history/locate/timeline.ts";
import { fdbEntryKind } from "../../src/resources/fdb-entries/fdb-entry.ts";
import { type HostRecord, hostKind } from "../../src/resources/hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { ipAddressKind } from "../../src/resources/ip-addresses/ip-address.ts";
import { networkKind } from "../../src/resources/networks/network.ts";
import { subnetKind } from "../../src/resources/subnets/subnet.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import {
  addressFields,
  fdbEntryFields,
  hostFields,
  ifEntryFields,
  networkFields,
  Store,
  subnetFields,
} from "../support/store/store.ts";
import { runSteps } from "../support/topology/steps.ts";
import { type LldpEnds, Topology } from "../support/topology/topology.ts";

let store: Store;
let ports: Map<string, IfEntryRecord>;

beforeEach(() => {
  store = new Store();
});
afterEach(() => store.close());

function replaceStore(): void {
  store.close();
  store = new Store();
}

function write(topology: Topology, isLearned?: (switchName: string, name: string) => boolean): void {
  ports = topology.write(store, isLearned);
}

function locate(
  mac: string,
  sequence = store.reader.head().sequence,
  networkIds: string[] | null = null,
): PresentLocation {
  const sight = { organizationN: store.n(store.organizationId), networkIds };
  return runSteps(locationAt(store.reader, { by: "mac", value: mac }, sequence, sight, null));
}

const describeLocation = (mac: string): string[] => locate(mac).candidates.map(describeCandidate);

/** A candidate in short form, such as `Edge Gi2 of access-1 behind esx 0.6`. */
function describeCandidate({ port, switch: device, behind, confidence }: Candidate): string {
  const location = port === null ? (device?.name ?? "nowhere") : `${port.role} ${port.name} of ${device?.name}`;
  return `${location}${behind === null ? "" : ` behind ${behind.name}`} ${confidence}`;
}

function locateByName(topology: Topology, name: string): string[] {
  write(topology);
  return describeLocation(topology.macOf(name));
}

/** Sentences of one kind of evidence for the best candidate. */
function evidenceOf(mac: string, kind: string): string[] {
  const evidence = locate(mac).candidates[0]?.evidence ?? [];
  return evidence.filter((item) => item.kind === kind).map(({ sentence }) => sentence);
}

/** Adds rows to a port's forwarding table, or removes them, in a separate transaction. */
function learn(port: string, macs: readonly string[], isForgotten = false): void {
  const entry = ports.get(port) as IfEntryRecord;
  store.write((tx) => {
    const rows = tx.children(fdbEntryKind, "if_entry_n", entry.id);
    for (const mac of macs) {
      const row = rows.find(({ mac_address }) => mac_address === mac);
      if (isForgotten && row !== undefined) tx.remove(fdbEntryKind, row.id);
      if (!isForgotten && row === undefined) tx.create(fdbEntryKind, store.organizationId, fdbEntryFields(entry, mac));
    }
  });
}

/** A core and two access switches, with these numbers of stations on separate ports. */
function twoTiers(lldpEnds: LldpEnds, options: { core?: boolean; stations?: number } = {}): Topology {
  const { core = false, stations = 20 } = options;
  const topology = new Topology().switch("core", { reports: core }).switch("access-1").switch("access-2");
  return topology
    .link("access-1", "core", lldpEnds)
    .link("access-2", "core", lldpEnds)
    .hosts(stations, "a", "access-1")
    .hosts(stations, "b", "access-2");
}

describe("a core without a known forwarding table", () => {
  test.each([
    ["First", 0.9],
    // Of the core's own neighbors, only the one on the path is considered.
    ["Second", 0.72],
    ["Both", 0.9],
    ["None", 0.9],
  ] as const)("leaves a station at its access port (ends with LLDP: %s)", (lldpEnds, confidence) => {
    const topology = twoTiers(lldpEnds).host("web", "access-1");
    expect(locateByName(topology, "web")).toEqual([`Edge Gi22 of access-1 ${confidence}`]);
  });

  test.each(["First", "Second", "Both"] as const)(
    "is inferred as a switch from both access switches (ends with LLDP: %s)",
    (lldpEnds) => {
      const topology = twoTiers(lldpEnds).host("web", "core");
      expect(locateByName(topology, "web")).toEqual(["Uplink Gi1 of access-1 0.4"]);
      expect(evidenceOf(topology.macOf("web"), "UplinkOnly")[0]).toContain(
        "its neighbor core is a switch, since access-2 at Gi1 names it too",
      );
      expect(evidenceOf(topology.macOf("web"), "Uplink")).toHaveLength(1);
    },
  );

  test("is inferred from MAC address counts alone if no links are known", () => {
    const topology = twoTiers("None").host("web", "core");
    expect(locateByName(topology, "web")).toEqual(["Uplink Gi1 of access-1 0.4"]);
    expect(evidenceOf(topology.macOf("web"), "UplinkOnly")[0]).toContain(
      "most entries of access-1 are there, as at every other port that forwards to it",
    );
  });

  test("is also inferred as a switch without a host record", () => {
    const topology = twoTiers("First").host("web", "core");
    write(topology);
    const core = store.list(hostKind).items.find(({ name }) => name === "core");
    store.write((tx) => {
      for (const { id } of store.list(ifEntryKind).items.filter(({ host_id: hostId }) => hostId === core?.id))
        tx.remove(ifEntryKind, id);
      for (const { id } of tx.children(ipAddressKind, "host_n", core?.id)) tx.remove(ipAddressKind, id);
      tx.remove(hostKind, core?.id);
    });
    expect(describeLocation(topology.macOf("web"))).toEqual(["Uplink Gi1 of access-1 0.4"]);
  });

  test("is not inferred from ports with few MAC addresses, nor from those of one switch", () => {
    const found = locateByName(twoTiers("First", { stations: 1 }).host("web", "core"), "web");
    expect(found.filter((description) => !/^Edge.*behind core/.test(description))).toEqual([]);
  });

  test("does not make a shared access port an uplink", () => {
    const topology = twoTiers("First").unmanaged("desk", "access-1").hosts(9, "d", "desk");
    expect(locateByName(topology, "d-3")).toEqual(["Edge Gi22 of access-1 0.75"]);
    expect(evidenceOf(topology.macOf("d-3"), "SharedPort")).toEqual([
      "8 more entries lead to Gi22: an unmanaged switch or a hypervisor is likely in between.",
    ]);
  });

  test("is also inferred if one access switch alone names it, and a station is at its own port", () => {
    const topology = new Topology().switch("core", { reports: false }).switch("access-1").switch("access-2");
    topology.link("access-1", "core", "First").link("access-2", "core", "None");
    topology.hosts(20, "a", "access-1").hosts(20, "b", "access-2").host("web", "access-2");
    expect(locateByName(topology, "web")).toEqual(["Edge Gi22 of access-2 0.72"]);
    expect(evidenceOf(topology.macOf("web"), "CloseCall")[0]).toContain("Gi1 of access-1");
  });
});

describe("a core with a forwarding table and without LLDP", () => {
  test("is an uplink to the access switch whose MAC address it has learned, even with few stations", () => {
    const topology = new Topology().switch("core").switch("access-1").switch("access-2");
    topology.link("access-1", "core").link("access-2", "core");
    topology.unmanaged("desk", "access-1").hosts(6, "d", "desk").host("b", "access-2");
    expect(locateByName(topology, "d-3")).toEqual(["Edge Gi2 of access-1 0.75"]);
    expect(evidenceOf(topology.macOf("d-3"), "Uplink")).toContain(
      "Gi1 of core forwards to it as an uplink: the MAC address of access-1, which forwards to it as well, was learned there.",
    );
  });

  test("places stations between two mutually known switches", () => {
    const topology = new Topology().switch("core").switch("access-1").unmanaged("hub", "core");
    topology.link("access-1", "hub").host("web", "hub").hosts(2, "a", "access-1");
    const expected = ["access-1", "core"].map((name) => expect.stringMatching(new RegExp(`^Edge Gi1 of ${name} `)));
    expect(locateByName(topology, "web").sort()).toEqual(expected);
  });
});

describe("three tiers", () => {
  const SILENT: Array<[string, readonly string[]]> = [
    ["all of them report", []],
    ["the core is silent", ["core"]],
    ["the distribution is silent", ["distribution-1", "distribution-2"]],
    ["only the access tier reports", ["core", "distribution-1", "distribution-2"]],
  ];
  const threeTiers = (silent: readonly string[], lldpEnds: LldpEnds): Topology => {
    const topology = new Topology();
    for (const name of ["core", "distribution-1", "distribution-2", "access-1", "access-2", "access-3"])
      topology.switch(name, { reports: !silent.includes(name) });
    topology.link("distribution-1", "core", lldpEnds).link("distribution-2", "core", lldpEnds);
    topology.link("access-1", "distribution-1", lldpEnds).link("access-2", "distribution-1", lldpEnds);
    topology.link("access-3", "distribution-2", lldpEnds);
    return topology.hosts(12, "a", "access-1").hosts(12, "b", "access-2").hosts(12, "c", "access-3");
  };

  test.each(SILENT)("places a station at its access port if %s", (_title, silent) => {
    for (const lldpEnds of ["Both", "First", "Second", "None"] as const) {
      const topology = threeTiers(silent, lldpEnds).host("web", "access-1");
      const [first, ...others] = locateByName(topology, "web");
      expect(first).toMatch(/^Edge Gi14 of access-1 0\.(9|72)$/);
      expect(others).toEqual([]);
      replaceStore();
    }
  });

  test("stations behind a silent distribution switch are located behind the uplink to it", () => {
    const topology = threeTiers(["distribution-1"], "Both").host("web", "distribution-1");
    expect(locateByName(topology, "web")).toEqual([expect.stringMatching(/^Uplink /)]);
  });
});

describe("other devices at a port", () => {
  test("include a phone with a station connected through it", () => {
    const topology = twoTiers("First", { core: true }).host("phone", "access-1", { lldp: true }).host("pc", "phone");
    expect(locateByName(topology, "pc")).toEqual(["Edge Gi22 of access-1 behind phone 0.85"]);
    expect(describeLocation(topology.macOf("phone"))).toEqual(["Edge Gi22 of access-1 0.98"]);
  });

  test("include a phone without a host record", () => {
    const topology = twoTiers("First", { core: true })
      .host("phone", "access-1", { lldp: true, known: false })
      .host("pc", "phone");
    expect(locateByName(topology, "pc")).toEqual(["Edge Gi22 of access-1 0.75"]);
    expect(evidenceOf(topology.macOf("pc"), "SharedPort")[0]).toContain("phone, or an unmanaged switch");
  });

  test("are not taken for a switch if they are phones with the same name, regardless of their number", () => {
    const topology = twoTiers("First", { core: true }).host("phone", "access-1", { lldp: true }).host("pc", "phone");
    write(topology);
    for (const [name, port] of ports)
      if (/^Gi([3-9]) of access-2/.test(name))
        store.write((tx) => tx.update(ifEntryKind, port.id, { lldp_sys_name: "phone" }));
    expect(describeLocation(topology.macOf("pc"))).toEqual(["Edge Gi22 of access-1 behind phone 0.85"]);
  });

  test.each([
    ["with a known name", true, "Edge Gi22 of access-1 behind esx 0.6"],
    ["with no data", false, "Edge Gi22 of access-1 0.5"],
  ])(
    "include a virtualization host with many machines %s, with lower confidence than one with few",
    (_title, lldp, expected) => {
      const topology = twoTiers("First").host("esx", "access-1", { lldp }).hosts(30, "vm", "esx");
      expect(locateByName(topology, "vm-3")).toEqual([expected]);
      expect(locate(topology.macOf("esx")).candidates[0]?.port?.name).toBe("Gi22");
    },
  );

  test("include a virtualization host on two switches, which is one location behind it, and not a switch", () => {
    const topology = twoTiers("First", { core: true }).host("esx", "access-1", { lldp: true }).hosts(12, "vm", "esx");
    write(topology);
    const macs = ["esx", ...Array.from({ length: 12 }, (_, k) => `vm-${k}`)].map((name) => topology.macOf(name));
    // The aggregate ends at both switches, and each has learned all addresses on it.
    learn("Gi1 of access-2", macs, true);
    const second = ports.get("Gi2 of access-2") as IfEntryRecord;
    const esx = store.list(hostKind).items.find(({ name }) => name === "esx");
    store.write((tx) => tx.update(ifEntryKind, second.id, { neighbor: { type: "Host", id: esx?.id } }));
    learn("Gi2 of access-2", macs);
    const location = locate(topology.macOf("vm-3"));
    const expected = ["Edge Gi2 of access-2 behind esx 0.85", "Edge Gi22 of access-1 behind esx 0.85"];
    expect(location.candidates.map(describeCandidate).sort()).toEqual(expected);
    expect(location.ambiguity).toBeNull();
  });

  test("include many stations that share a port with an unknown switch", () => {
    const topology = twoTiers("First").unmanaged("floor", "access-1").hosts(30, "d", "floor");
    expect(locateByName(topology, "d-3")).toEqual(["Edge Gi22 of access-1 0.5"]);
  });
});

test("a stale entry has low confidence once another switch has learned the address later", () => {
  const topology = twoTiers("First", { core: true }).host("web", "access-2").host("desk", "access-1");
  write(topology, (switchName, name) => name !== "desk" && (name !== "web" || switchName === "core"));
  const mac = topology.macOf("web");
  learn("Gi22 of access-1", [mac]);
  expect(describeLocation(mac)).toEqual(["Edge Gi22 of access-1 0.9"]);
  store.clock.at += 3_600_000;
  learn("Gi22 of access-2", [mac]);
  expect(describeLocation(mac)).toEqual(["Edge Gi22 of access-2 0.72", "Edge Gi22 of access-1 0.45"]);
  expect(evidenceOf(mac, "MovedHere")).toEqual([
    "It was learned here later than at Gi22 of access-1, which may not have been read since.",
  ]);
  expect(locate(mac).ambiguity).toContain("may be at any of 2 ports");
});

describe("link aggregates", () => {
  test("connect switches, with the neighbors at their members", () => {
    const topology = new Topology().switch("core", { reports: false }).switch("access-1").switch("access-2");
    topology.link("access-1", "core", "Both", { lag: true }).link("access-2", "core", "Both", { lag: true });
    topology.hosts(20, "a", "access-1").hosts(20, "b", "access-2").host("web", "access-1").host("db", "core");
    expect(locateByName(topology, "web")).toEqual(["Edge Gi22 of access-1 0.9"]);
    expect(describeLocation(topology.macOf("db"))).toEqual(["Uplink Po1 of access-1 0.4"]);
  });

  test("connect a server: the table names the aggregate, LLDP its members", () => {
    const topology = twoTiers("First").host("web", "access-1");
    write(topology);
    const aggregate = ports.get("Gi22 of access-1") as IfEntryRecord;
    store.write((tx) => {
      tx.update(ifEntryKind, aggregate.id, { if_name: "Po5", if_type: 161 });
      const neighbor = {
        lldp_sys_name: "web",
        lldp_chassis_id: { subtype: "MacAddress", value: topology.macOf("web") },
      } as const;
      const access = { id: aggregate.host_id, network_id: store.networkId };
      for (const index of [501, 502]) {
        const fields = ifEntryFields(access, index, { if_name: `Te${index}`, ...neighbor });
        tx.create(ifEntryKind, store.organizationId, fields);
      }
    });
    expect(describeLocation(topology.macOf("web"))).toEqual(["Edge Po5 of access-1 0.98"]);
    expect(evidenceOf(topology.macOf("web"), "Neighbor")).toEqual([
      "By LLDP, web is at the other end of Te501 of access-1; Po5, which bundles several ports, forwards to it.",
    ]);
  });
});

describe("a port without announcements that the other side announces", () => {
  const OWN = "00:1b:21:0a:00:00";
  const OTHER = "00:1b:21:0a:00:77";
  const STATION = "00:1b:21:0b:00:01";
  const MANAGEMENT = "10.0.0.1";

  /** Location of the station that both switches forward to: the leaf on its path to the spine. */
  function place(
    announced: Partial<OwnFields<IfEntryRecord>>,
    leafFields: Partial<OwnFields<HostRecord>> = {},
    namesakes = 0,
  ): string[] {
    store.write((tx) => {
      const { organizationId, networkId } = store;
      const host = (name: string, fields: Partial<OwnFields<HostRecord>> = {}) =>
        tx.create(hostKind, organizationId, hostFields(networkId, name, fields));
      const port = (device: ReturnType<typeof host>, fields: Partial<OwnFields<IfEntryRecord>>) =>
        tx.create(ifEntryKind, organizationId, ifEntryFields(device, 1, fields));
      const leaf = host("leaf", { chassis_id: OWN, sys_name: "leaf", ...leafFields });
      const subnet = tx.create(subnetKind, organizationId, subnetFields(networkId, "10.0.0.0/24"));
      tx.create(ipAddressKind, organizationId, addressFields(leaf, subnet.id, MANAGEMENT));
      for (let count = 0; count < namesakes; count += 1) host("leaf", { sys_name: "leaf" });
      const uplink = port(leaf, { if_name: "Gi1" });
      const lldp_port_id = { subtype: "InterfaceName", value: "Gi1" } as const;
      const downlink = port(host("spine"), { if_name: "Te1", lldp_port_id, ...announced });
      tx.create(fdbEntryKind, organizationId, fdbEntryFields(uplink, STATION));
      tx.create(fdbEntryKind, organizationId, fdbEntryFields(downlink, OTHER));
    });
    return describeLocation(STATION).map((text) => text.split(" ")[0] ?? "");
  }
  const chassis = (value: string) => ({ subtype: "MacAddress", value }) as const;

  test.each([
    ["its chassis id", { lldp_chassis_id: chassis(OWN) }, {}],
    ["its bridge address", { lldp_chassis_id: chassis(OTHER) }, { bridge_address: OTHER }],
    ["its name, with another chassis id on every port", { lldp_sys_name: "leaf", lldp_chassis_id: chassis(OTHER) }, {}],
    [
      "its name and address, with another chassis id",
      { lldp_sys_name: "leaf", lldp_chassis_id: chassis(OTHER), lldp_mgmt_addr: MANAGEMENT },
      {},
    ],
  ])("leads there by %s", (_title, announced, leafFields) => {
    expect(place(announced, leafFields)).toEqual(["Uplink"]);
  });

  test.each([
    [
      "its name with the address of another device",
      { lldp_sys_name: "leaf", lldp_chassis_id: chassis(OTHER), lldp_mgmt_addr: "10.0.0.9" },
      {},
      0,
    ],
    [
      "a factory default with another chassis id",
      { lldp_sys_name: "switch", lldp_chassis_id: chassis(OTHER) },
      { sys_name: "switch" },
      0,
    ],
    ["the name of two hosts", { lldp_sys_name: "leaf", lldp_chassis_id: chassis(OTHER) }, {}, 1],
  ])("leads nowhere by %s", (_title, announced, leafFields, namesakes) => {
    expect(place(announced, leafFields, namesakes)).toEqual(["Edge"]);
  });
});

test("a far end in another network is not inferred as a switch", () => {
  const topology = new Topology().switch("access-1").host("esx", "access-1", { lldp: true });
  write(topology.hosts(20, "vm", "esx").hosts(3, "a", "access-1"));
  const before = locate(topology.macOf("vm-3"));
  store.write((tx) => {
    const networkId = tx.create(networkKind, store.organizationId, networkFields(store.organizationId, "second")).id;
    for (const name of ["foreign-1", "foreign-2", "foreign-3"]) {
      const device = tx.create(hostKind, store.organizationId, hostFields(networkId, name));
      const chassisId = { subtype: "MacAddress", value: topology.macOf("esx") } as const;
      const fields = ifEntryFields(device, 1, { lldp_sys_name: "esx", lldp_chassis_id: chassisId });
      const port = tx.create(ifEntryKind, store.organizationId, fields);
      for (let k = 0; k < 20; k += 1)
        tx.create(fdbEntryKind, store.organizationId, fdbEntryFields(port, `02:00:00:00:00:${(16 + k).toString(16)}`));
    }
  });
  expect(before.candidates.map(describeCandidate)).toEqual(["Edge Gi1 of access-1 behind esx 0.6"]);
  expect(locate(topology.macOf("vm-3"))).toEqual(before);
  expect(locate(topology.macOf("vm-3"), undefined, [store.networkId])).toEqual(before);
});

/** A tree of two to seven switches, some not reporting, with all kinds of attached devices. */
function randomTopology(seed: number): Topology {
  const random = seededRandom(seed);
  const topology = new Topology();
  const count = 2 + random.integer(6);
  const lldp = random.pick<readonly LldpEnds[]>([["None"], ["Both"], ["Both", "First", "Second", "None"]]);
  for (let k = 0; k < count; k += 1) topology.switch(`s${k}`, { reports: random.integer(4) > 0 });
  for (let k = 1; k < count; k += 1) topology.link(`s${k}`, `s${random.integer(k)}`, random.pick(lldp));
  for (let k = 0; k < count; k += 1) {
    if (random.integer(5) > 0) topology.hosts(1 + random.integer(12), `h${k}`, `s${k}`);
    if (random.integer(3) === 0)
      topology.host(`phone${k}`, `s${k}`, { lldp: true, known: random.integer(2) === 0 }).host(`pc${k}`, `phone${k}`);
    if (random.integer(3) === 0) topology.unmanaged(`u${k}`, `s${k}`).hosts(2 + random.integer(10), `d${k}`, `u${k}`);
    if (random.integer(4) === 0)
      topology
        .host(`esx${k}`, `s${k}`, { lldp: random.integer(2) === 0 })
        .hosts(5 + random.integer(25), `vm${k}`, `esx${k}`);
  }
  return topology;
}

const everyFourthStation = (topology: Topology, first: number): string[] =>
  topology
    .names()
    .filter((name) => !/^s\d/.test(name))
    .filter((_, position) => position % 4 === first % 4);

describe("random networks", () => {
  test("place a station on a fully learned switch at its port, and others at no port with certainty", () => {
    let found = 0;
    let ambiguous = 0;
    for (let seed = 1; seed <= 30; seed += 1) {
      const topology = randomTopology(seed);
      write(topology);
      for (const name of everyFourthStation(topology, seed)) {
        const attachedPorts = topology.reportingPorts(name);
        const [first] = locate(topology.macOf(name)).candidates;
        // A silent switch may know its attached devices by LLDP.
        if (first === undefined || attachedPorts.length === 0 || first.evidence.some(({ kind }) => kind === "Neighbor"))
          continue;
        if (attachedPorts.length === 1) {
          found += 1;
          const location = `${first.port?.role} ${first.port?.name} of ${first.switch?.name}`;
          expect([seed, name, location]).toEqual([seed, name, `Edge ${attachedPorts[0]}`]);
        } else {
          ambiguous += 1;
          if (first.port?.role === "Edge" && first.behind === null) expect(first.confidence).toBeLessThanOrEqual(0.75);
        }
      }
      replaceStore();
    }
    expect(found).toBeGreaterThan(200);
    expect(ambiguous).toBeGreaterThan(20);
  });

  test("rarely mislead with incomplete tables, and hardly ever with high confidence", () => {
    let queried = 0;
    let wrong = 0;
    let confidentlyWrong = 0;
    for (let seed = 101; seed <= 120; seed += 1) {
      const random = seededRandom(seed);
      const topology = randomTopology(seed);
      write(topology, () => random.integer(10) > 0);
      for (const name of everyFourthStation(topology, 0)) {
        const attachedPorts = topology.reportingPorts(name);
        const [first] = locate(topology.macOf(name)).candidates;
        if (first?.port == null || attachedPorts.length !== 1) continue;
        queried += 1;
        if (first.port.role === "Uplink" || `${first.port.name} of ${first.switch?.name}` === attachedPorts[0])
          continue;
        wrong += 1;
        if (first.confidence > 0.6) confidentlyWrong += 1;
      }
      replaceStore();
    }
    expect(queried).toBeGreaterThan(120);
    expect(wrong / queried).toBeLessThan(0.15);
    expect(confidentlyWrong / queried).toBeLessThan(0.04);
  });

  test("have a timeline that equals locate at every transaction, for any tables and links", () => {
    for (let seed = 201; seed <= 206; seed += 1) {
      const random = seededRandom(seed);
      const topology = twoTiers("First", { core: seed % 2 === 0, stations: 8 });
      topology.unmanaged("desk", "access-1").hosts(6, "d", "desk");
      topology.host("esx", "access-2", { lldp: true }).hosts(16, "vm", "esx").host("web", "access-1");
      write(topology, () => random.integer(8) > 0);
      const names = [...ports.keys()].filter((port) => /(core|access-1|access-2)$/.test(port));
      const busy = names.filter((port) => /^Gi([12]|10) /.test(port));
      const macs = topology.names().map((name) => topology.macOf(name));
      const randomMacs = () => macs.filter(() => random.integer(3) === 0);
      const updatePort = (port: string, fields: Partial<OwnFields<IfEntryRecord>>) =>
        void store.write((tx) => tx.update(ifEntryKind, (ports.get(port) as IfEntryRecord).id, fields));
      const steps: Array<() => void> = [
        () => learn(random.pick(busy), randomMacs()),
        () => learn(random.pick(busy), randomMacs(), true),
        () => learn(random.pick(names), randomMacs()),
        () => learn(random.pick(names), macs, true),
        () =>
          updatePort(random.pick(names), {
            oper_status: random.pick(["Up", "Up", "Down"] as const),
            lldp_sys_name: random.pick([undefined, "core", "esx", "access-1", "stranger"]),
          }),
        () =>
          updatePort(random.pick(busy), {
            lldp_chassis_id: undefined,
            lldp_sys_name: random.pick([undefined, "core", "stranger"]),
          }),
      ];
      for (let step = 0; step < 60; step += 1) random.pick(steps)();
      const { sequence: last } = store.reader.head();
      for (const name of ["web", "d-2", "vm-3", "b-1", "core"]) {
        const query = {
          actor: { ...store.reach(), type: "User", n: 1, userN: 1, role: "Owner" },
          term: { by: "mac", value: topology.macOf(name) },
          networkId: null,
        } as const;
        const chunks = locateTimeline(store.reader, { ...query, from: null, to: null, until: last });
        const { intervals } = JSON.parse(`${Buffer.concat([...chunks])}`).data as { intervals: Interval[] };
        for (const { sequence, at } of store.transactions()) {
          const instant = new Date(at).toISOString();
          const interval = intervals.find(({ from, to }) => from <= instant && (to === null || instant < to));
          const [first] = locate(topology.macOf(name), sequence).candidates;
          const description = (candidate: Candidate | Interval | undefined) =>
            candidate === undefined
              ? "nowhere"
              : `${candidate.port?.role} ${candidate.port?.name} of ${candidate.switch?.name} behind ${candidate.behind?.name} ${candidate.confidence}`;
          const query = [seed, name, sequence];
          expect([...query, description(interval)]).toEqual([...query, description(first)]);
        }
      }
      replaceStore();
    }
  });
});
