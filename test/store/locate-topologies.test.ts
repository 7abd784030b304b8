// Locate on networks with known positions: hand-made ones, and many random ones.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Candidate, Interval, Location } from "../../src/history/locate/answer.ts";
import { locationAt } from "../../src/history/locate/locate.ts";
import { locateTimeline } from "../../src/history/locate/timeline.ts";
import { fdbEntryKind } from "../../src/resources/fdb-entries/fdb-entry.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { ipAddressKind } from "../../src/resources/ip-addresses/ip-address.ts";
import { networkKind } from "../../src/resources/networks/network.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { fdbEntryFields, hostFields, ifEntryFields, networkFields, Store } from "../support/store/store.ts";
import { outcomeOf } from "../support/topology/steps.ts";
import { type Said, Topology } from "../support/topology/topology.ts";

let store: Store;
let ports: Map<string, IfEntryRecord>;

beforeEach(() => {
  store = new Store();
});
afterEach(() => store.close());

function write(topology: Topology, isLearned?: (at: string, name: string) => boolean): void {
  ports = topology.write(store, isLearned);
}

function locate(
  mac: string,
  sequence = store.reader.head().sequence,
  networkIds: readonly string[] | null = null,
): Location {
  return outcomeOf(
    locationAt(
      store.reader,
      { by: "mac", value: mac },
      sequence,
      { organizationN: store.n(store.organizationId), networkIds },
      null,
    ),
  );
}

/** `Edge Gi2 of access-1 behind esx 0.6`. */
function brief({ port, switch: device, behind, confidence }: Candidate): string {
  const at = port === null ? (device?.name ?? "nowhere") : `${port.role} ${port.name} of ${device?.name}`;
  return `${at}${behind === null ? "" : ` behind ${behind.name}`} ${confidence}`;
}

function locating(topology: Topology, name: string): string[] {
  write(topology);
  return locate(topology.macOf(name)).candidates.map(brief);
}

/** Sentences of one kind of evidence for the best candidate. */
function told(mac: string, kind: string): string[] {
  return (locate(mac).candidates[0]?.evidence ?? [])
    .filter((each) => each.kind === kind)
    .map(({ sentence }) => sentence);
}

/** Adds rows to a port's forwarding table, or removes them, in a separate transaction. */
function learn(port: string, macs: readonly string[], isForgotten = false): void {
  const entry = ports.get(port) as IfEntryRecord;
  store.write((tx) => {
    const rows = tx.children(fdbEntryKind, "if_entry_n", entry.id);
    for (const mac of macs) {
      const row = rows.find((each) => each.mac_address === mac);
      if (isForgotten && row !== undefined) tx.remove(fdbEntryKind, row.id);
      if (!isForgotten && row === undefined) tx.create(fdbEntryKind, store.organizationId, fdbEntryFields(entry, mac));
    }
  });
}

/** A core and two access switches, with these numbers of stations on separate ports. */
function twoTiers(said: Said, options: { core?: boolean; stations?: number } = {}): Topology {
  const { core = false, stations = 20 } = options;
  const topology = new Topology().switch("core", { reports: core }).switch("access-1").switch("access-2");
  return topology
    .link("access-1", "core", said)
    .link("access-2", "core", said)
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
  ] as const)("leaves a station at its access port (ends with LLDP: %s)", (said, confidence) => {
    expect(locating(twoTiers(said).host("web", "access-1"), "web")).toEqual([`Edge Gi22 of access-1 ${confidence}`]);
  });

  test.each(["First", "Second", "Both"] as const)(
    "is inferred as a switch from both access switches (ends with LLDP: %s)",
    (said) => {
      const topology = twoTiers(said).host("web", "core");
      expect(locating(topology, "web")).toEqual(["Uplink Gi1 of access-1 0.4"]);
      expect(told(topology.macOf("web"), "UplinkOnly")[0]).toContain(
        "its neighbor core is a switch, since access-2 at Gi1 names it too",
      );
      expect(told(topology.macOf("web"), "Uplink")).toHaveLength(1);
    },
  );

  test("is inferred from MAC address counts alone if no links are known", () => {
    const topology = twoTiers("None").host("web", "core");
    expect(locating(topology, "web")).toEqual(["Uplink Gi1 of access-1 0.4"]);
    expect(told(topology.macOf("web"), "UplinkOnly")[0]).toContain(
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
    expect(locate(topology.macOf("web")).candidates.map(brief)).toEqual(["Uplink Gi1 of access-1 0.4"]);
  });

  test("is not inferred from ports with few MAC addresses, nor from those of one switch", () => {
    expect(
      locating(twoTiers("First", { stations: 1 }).host("web", "core"), "web").every(
        (place) => place.startsWith("Edge") && place.includes("behind core"),
      ),
    ).toBe(true);
  });

  test("does not make a shared access port an uplink", () => {
    const topology = twoTiers("First").unmanaged("desk", "access-1").hosts(9, "d", "desk");
    expect(locating(topology, "d-3")).toEqual(["Edge Gi22 of access-1 0.75"]);
    expect(told(topology.macOf("d-3"), "SharedPort")).toEqual([
      "8 more entries lead to Gi22: an unmanaged switch or a hypervisor is likely in between.",
    ]);
  });

  test("is also inferred if one access switch alone names it, and a station is at its own port", () => {
    const topology = new Topology().switch("core", { reports: false }).switch("access-1").switch("access-2");
    topology
      .link("access-1", "core", "First")
      .link("access-2", "core", "None")
      .hosts(20, "a", "access-1")
      .hosts(20, "b", "access-2")
      .host("web", "access-2");
    expect(locating(topology, "web")).toEqual(["Edge Gi22 of access-2 0.72"]);
    expect(told(topology.macOf("web"), "CloseCall")[0]).toContain("Gi1 of access-1");
  });
});

describe("a core with a forwarding table and without LLDP", () => {
  test("leads to the access switch whose MAC address it has learned, however few there are", () => {
    const topology = new Topology()
      .switch("core")
      .switch("access-1")
      .switch("access-2")
      .link("access-1", "core")
      .link("access-2", "core");
    topology.unmanaged("desk", "access-1").hosts(6, "d", "desk").host("b", "access-2");
    expect(locating(topology, "d-3")).toEqual(["Edge Gi2 of access-1 0.75"]);
    expect(told(topology.macOf("d-3"), "Uplink")).toContain(
      "Gi1 of core forwards to it as an uplink: the MAC address of access-1, which forwards to it as well, was learned there.",
    );
  });

  test("places stations between two mutually known switches", () => {
    const topology = new Topology()
      .switch("core")
      .switch("access-1")
      .unmanaged("hub", "core")
      .link("access-1", "hub")
      .host("web", "hub")
      .hosts(2, "a", "access-1");
    expect(
      locating(topology, "web")
        .map((place) => place.split(" ").slice(0, 4).join(" "))
        .sort(),
    ).toEqual(["Edge Gi1 of access-1", "Edge Gi1 of core"]);
  });
});

describe("three tiers", () => {
  const SILENT: Array<[string, readonly string[]]> = [
    ["all of them report", []],
    ["the core is silent", ["core"]],
    ["the distribution is silent", ["distribution-1", "distribution-2"]],
    ["only the access tier reports", ["core", "distribution-1", "distribution-2"]],
  ];
  const threeTiers = (silent: readonly string[], said: Said): Topology => {
    const topology = new Topology();
    for (const name of ["core", "distribution-1", "distribution-2", "access-1", "access-2", "access-3"])
      topology.switch(name, { reports: !silent.includes(name) });
    topology.link("distribution-1", "core", said).link("distribution-2", "core", said);
    topology
      .link("access-1", "distribution-1", said)
      .link("access-2", "distribution-1", said)
      .link("access-3", "distribution-2", said);
    return topology.hosts(12, "a", "access-1").hosts(12, "b", "access-2").hosts(12, "c", "access-3");
  };

  test.each(SILENT)("if %s a station is at its access port", (_title, silent) => {
    for (const said of ["Both", "First", "Second", "None"] as const) {
      const topology = threeTiers(silent, said).host("web", "access-1");
      const [first, ...others] = locating(topology, "web");
      expect(first).toMatch(/^Edge Gi14 of access-1 0\.(9|72)$/);
      expect(others).toEqual([]);
      store.close();
      store = new Store();
    }
  });

  test("stations on a silent distribution switch are beyond it", () => {
    expect(
      locating(threeTiers(["distribution-1"], "Both").host("web", "distribution-1"), "web").map(
        (place) => place.split(" ")[0],
      ),
    ).toEqual(["Uplink"]);
  });
});

describe("other devices at a port", () => {
  test("a phone with a station connected through it", () => {
    const topology = twoTiers("First", { core: true }).host("phone", "access-1", { lldp: true }).host("pc", "phone");
    expect(locating(topology, "pc")).toEqual(["Edge Gi22 of access-1 behind phone 0.85"]);
    expect(locate(topology.macOf("phone")).candidates.map(brief)).toEqual(["Edge Gi22 of access-1 0.98"]);
  });

  test("a phone without a host record", () => {
    const topology = twoTiers("First", { core: true })
      .host("phone", "access-1", { lldp: true, known: false })
      .host("pc", "phone");
    expect(locating(topology, "pc")).toEqual(["Edge Gi22 of access-1 0.75"]);
    expect(told(topology.macOf("pc"), "SharedPort")[0]).toContain("phone, or an unmanaged switch");
  });

  test("phones of one name are not a switch, however many", () => {
    const topology = twoTiers("First", { core: true }).host("phone", "access-1", { lldp: true }).host("pc", "phone");
    write(topology);
    for (const [name, port] of ports)
      if (/^Gi([3-9]) of access-2/.test(name))
        store.write((tx) => tx.update(ifEntryKind, port.id, { lldp_sys_name: "phone" }));
    expect(locate(topology.macOf("pc")).candidates.map(brief)).toEqual(["Edge Gi22 of access-1 behind phone 0.85"]);
  });

  test.each([
    ["with a known name", true, "Edge Gi22 of access-1 behind esx 0.6"],
    ["with no data", false, "Edge Gi22 of access-1 0.5"],
  ])(
    "a virtualization host with many machines %s, with lower confidence than one with few",
    (_title, lldp, expected) => {
      const topology = twoTiers("First").host("esx", "access-1", { lldp }).hosts(30, "vm", "esx");
      expect(locating(topology, "vm-3")).toEqual([expected]);
      expect(locate(topology.macOf("esx")).candidates[0]?.port?.name).toBe("Gi22");
    },
  );

  test("a virtualization host on two switches is one location behind it, and not a switch", () => {
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
    expect(location.candidates.map(brief).sort()).toEqual([
      "Edge Gi2 of access-2 behind esx 0.85",
      "Edge Gi22 of access-1 behind esx 0.85",
    ]);
    expect(location.ambiguity).toBeNull();
  });

  test("many stations that share a port with an unknown switch", () => {
    expect(locating(twoTiers("First").unmanaged("floor", "access-1").hosts(30, "d", "floor"), "d-3")).toEqual([
      "Edge Gi22 of access-1 0.5",
    ]);
  });
});

describe("movement", () => {
  test("a stale entry has low confidence once another switch has learned the address later", () => {
    const topology = twoTiers("First", { core: true }).host("web", "access-2").host("desk", "access-1");
    write(topology, (at, name) => name !== "desk" && (name !== "web" || at === "core"));
    learn("Gi22 of access-1", [topology.macOf("web")]);
    expect(locate(topology.macOf("web")).candidates.map(brief)).toEqual(["Edge Gi22 of access-1 0.9"]);
    store.clock.at += 3_600_000;
    learn("Gi22 of access-2", [topology.macOf("web")]);
    const location = locate(topology.macOf("web"));
    expect(location.candidates.map(brief)).toEqual(["Edge Gi22 of access-2 0.72", "Edge Gi22 of access-1 0.45"]);
    expect(told(topology.macOf("web"), "MovedHere")).toEqual([
      "It was learned here later than at Gi22 of access-1, which may not have been read since.",
    ]);
    expect(location.ambiguity).toContain("may be at any of 2 ports");
  });
});

describe("link aggregates", () => {
  test("between switches, with the neighbors at their members", () => {
    const topology = new Topology().switch("core", { reports: false }).switch("access-1").switch("access-2");
    topology
      .link("access-1", "core", "Both", { lag: true })
      .link("access-2", "core", "Both", { lag: true })
      .hosts(20, "a", "access-1")
      .hosts(20, "b", "access-2")
      .host("web", "access-1")
      .host("db", "core");
    expect(locating(topology, "web")).toEqual(["Edge Gi22 of access-1 0.9"]);
    expect(locate(topology.macOf("db")).candidates.map(brief)).toEqual(["Uplink Po1 of access-1 0.4"]);
  });

  test("of a server: the table names the aggregate, LLDP its members", () => {
    const topology = twoTiers("First").host("web", "access-1");
    write(topology);
    const aggregate = ports.get("Gi22 of access-1") as IfEntryRecord;
    store.write((tx) => {
      tx.update(ifEntryKind, aggregate.id, { if_name: "Po5", if_type: 161 });
      for (const index of [501, 502])
        tx.create(
          ifEntryKind,
          store.organizationId,
          ifEntryFields({ id: aggregate.host_id, network_id: store.networkId }, index, {
            if_name: `Te${index}`,
            lldp_sys_name: "web",
            lldp_chassis_id: { subtype: "MacAddress", value: topology.macOf("web") },
          }),
        );
    });
    expect(locate(topology.macOf("web")).candidates.map(brief)).toEqual(["Edge Po5 of access-1 0.98"]);
    expect(told(topology.macOf("web"), "Neighbor")).toEqual([
      "By LLDP, web is at the other end of Te501 of access-1; Po5, which bundles several ports, forwards to it.",
    ]);
  });
});

test("a far end in another network is not inferred as a switch", () => {
  const topology = new Topology()
    .switch("access-1")
    .host("esx", "access-1", { lldp: true })
    .hosts(20, "vm", "esx")
    .hosts(3, "a", "access-1");
  write(topology);
  const before = locate(topology.macOf("vm-3"));
  store.write((tx) => {
    const networkId = tx.create(networkKind, store.organizationId, networkFields(store.organizationId, "second")).id;
    for (const name of ["foreign-1", "foreign-2", "foreign-3"]) {
      const device = tx.create(hostKind, store.organizationId, hostFields(networkId, name));
      const port = tx.create(
        ifEntryKind,
        store.organizationId,
        ifEntryFields(device, 1, {
          lldp_sys_name: "esx",
          lldp_chassis_id: { subtype: "MacAddress", value: topology.macOf("esx") },
        }),
      );
      for (let k = 0; k < 20; k += 1)
        tx.create(fdbEntryKind, store.organizationId, fdbEntryFields(port, `02:00:00:00:00:${(16 + k).toString(16)}`));
    }
  });
  expect(before.candidates.map(brief)).toEqual(["Edge Gi1 of access-1 behind esx 0.6"]);
  expect(locate(topology.macOf("vm-3"))).toEqual(before);
  expect(locate(topology.macOf("vm-3"), undefined, [store.networkId])).toEqual(before);
});

/** A tree of two to seven switches, some not reporting, with all kinds of attached devices. */
function drawn(seed: number): Topology {
  const random = seededRandom(seed);
  const topology = new Topology();
  const count = 2 + random.integer(6);
  const lldp = random.pick<readonly Said[]>([["None"], ["Both"], ["Both", "First", "Second", "None"]]);
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

const isStation = (name: string): boolean => !/^s\d/.test(name);

describe("random networks", () => {
  test("a station on a fully learned switch is at its port, and others are at no port with certainty", () => {
    let found = 0;
    let unsure = 0;
    for (let seed = 1; seed <= 30; seed += 1) {
      const topology = drawn(seed);
      write(topology);
      for (const name of topology
        .names()
        .filter(isStation)
        .filter((_, position) => position % 4 === seed % 4)) {
        const around = topology.around(name);
        const [first] = locate(topology.macOf(name)).candidates;
        // A silent switch may know its attached devices by LLDP.
        if (first === undefined || around.length === 0 || first.evidence.some(({ kind }) => kind === "Neighbor"))
          continue;
        if (around.length === 1) {
          found += 1;
          expect(`${seed} ${name} ${first.port?.role} ${first.port?.name} of ${first.switch?.name}`).toBe(
            `${seed} ${name} Edge ${around[0]}`,
          );
        } else {
          unsure += 1;
          if (first.port?.role === "Edge" && first.behind === null) expect(first.confidence).toBeLessThanOrEqual(0.75);
        }
      }
      store.close();
      store = new Store();
    }
    expect(found).toBeGreaterThan(200);
    expect(unsure).toBeGreaterThan(20);
  });

  test("incomplete tables rarely mislead, and hardly ever with high confidence", () => {
    let asked = 0;
    let misled = 0;
    let surely = 0;
    for (let seed = 101; seed <= 120; seed += 1) {
      const random = seededRandom(seed);
      const topology = drawn(seed);
      write(topology, () => random.integer(10) > 0);
      for (const name of topology
        .names()
        .filter(isStation)
        .filter((_, position) => position % 4 === 0)) {
        const around = topology.around(name);
        const [first] = locate(topology.macOf(name)).candidates;
        if (first?.port == null || around.length !== 1) continue;
        asked += 1;
        if (first.port.role === "Uplink" || `${first.port.name} of ${first.switch?.name}` === around[0]) continue;
        misled += 1;
        if (first.confidence > 0.6) surely += 1;
      }
      store.close();
      store = new Store();
    }
    expect(asked).toBeGreaterThan(120);
    expect(misled / asked).toBeLessThan(0.15);
    expect(surely / asked).toBeLessThan(0.04);
  });

  test("a timeline equals locate at every transaction, for any tables and links", () => {
    for (let seed = 201; seed <= 206; seed += 1) {
      const random = seededRandom(seed);
      const topology = twoTiers("First", { core: seed % 2 === 0, stations: 8 })
        .unmanaged("desk", "access-1")
        .hosts(6, "d", "desk")
        .host("esx", "access-2", { lldp: true })
        .hosts(16, "vm", "esx")
        .host("web", "access-1");
      write(topology, () => random.integer(8) > 0);
      const names = [...ports.keys()].filter((port) =>
        ["core", "access-1", "access-2"].some((device) => port.endsWith(device)),
      );
      const busy = names.filter((port) => /^Gi([12]|10) /.test(port));
      const macs = topology.names().map((name) => topology.macOf(name));
      const some = () => macs.filter(() => random.integer(3) === 0);
      const steps: Array<() => void> = [
        () => learn(random.pick(busy), some()),
        () => learn(random.pick(busy), some(), true),
        () => learn(random.pick(names), some()),
        () => learn(random.pick(names), macs, true),
        () =>
          void store.write((tx) =>
            tx.update(ifEntryKind, (ports.get(random.pick(names)) as IfEntryRecord).id, {
              oper_status: random.pick(["Up", "Up", "Down"] as const),
              lldp_sys_name: random.pick([undefined, "core", "esx", "access-1", "stranger"]),
            }),
          ),
        () =>
          void store.write((tx) =>
            tx.update(ifEntryKind, (ports.get(random.pick(busy)) as IfEntryRecord).id, {
              lldp_chassis_id: undefined,
              lldp_sys_name: random.pick([undefined, "core", "stranger"]),
            }),
          ),
      ];
      for (let step = 0; step < 60; step += 1) random.pick(steps)();
      const { sequence: last } = store.reader.head();
      for (const name of ["web", "d-2", "vm-3", "b-1", "core"]) {
        const query = {
          actor: {
            type: "User",
            n: 1,
            userN: 1,
            role: "Owner",
            organizationN: store.n(store.organizationId),
            networkNs: null,
          },
          asked: { by: "mac", value: topology.macOf(name) },
          networkId: null,
        } as const;
        const text = [...locateTimeline(store.reader, { ...query, from: null, to: null, until: last })]
          .map((bytes) => new TextDecoder().decode(bytes))
          .join("");
        const { intervals } = JSON.parse(text).data as { intervals: Interval[] };
        for (const { sequence, at } of store.transactions()) {
          const instant = new Date(at).toISOString();
          const interval = intervals.find(({ from, to }) => from <= instant && (to === null || instant < to));
          const [first] = locate(topology.macOf(name), sequence).candidates;
          const place = (of: Candidate | Interval | undefined) =>
            of === undefined
              ? "nowhere"
              : `${of.port?.role} ${of.port?.name} of ${of.switch?.name} behind ${of.behind?.name} ${of.confidence}`;
          expect(`${seed} ${name} ${sequence} ${place(interval)}`).toBe(`${seed} ${name} ${sequence} ${place(first)}`);
        }
      }
      store.close();
      store = new Store();
    }
  });
});
