// Discovery by the executable in a real network: results for two switches, their neighbors and a silent host, writes
// after a cable moved, and behavior with rejected credentials, dead daemons and when it is terminated.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { community, DiscoveryClient, user } from "../support/executable/discovery-client.ts";
import type { Running } from "../support/executable/executable.ts";
import { sandboxForAll } from "../support/executable/sandboxes.ts";
import { LAB_MISSING, Lab } from "../support/lab/lab.ts";
import { COMMUNITY, LAB_CIDR, LAB_USER, MANAGER_ADDRESS, SILENT_CIDR } from "../support/lab/network.ts";
import { stopwatch } from "../support/measure/processor-time.ts";

describe.skipIf(LAB_MISSING !== null)(
  `discovery in a real network${LAB_MISSING === null ? "" : ` (skipped: ${LAB_MISSING})`}`,
  () => {
    let lab: Lab;
    const sandbox = sandboxForAll();
    let running: Running;
    let discovery: DiscoveryClient;
    let key: string;
    let organizationId: string;
    let networkId: string;

    beforeAll(async () => {
      lab = await Lab.start();
      ({ key, networkId, organizationId } = await sandbox.setUp());
      await start();
      // Tried in this order: a device reports an unknown user immediately, but stays silent for a wrong community.
      await discovery.credential(user(LAB_USER.name, LAB_USER.authPassword, LAB_USER.privPassword), [networkId]);
      await discovery.credential(community(COMMUNITY), [networkId]);
    });
    afterAll(() => lab.stop());

    async function start(): Promise<void> {
      running = await sandbox.serve([], lab.executable);
      discovery = new DiscoveryClient(await lab.client(running, key), organizationId);
    }

    const scanAll = (fields: JsonRecord = {}) =>
      discovery.runScan({ network_id: networkId, kind: "full", targets: [LAB_CIDR], ...fields });
    const hosts = (network = networkId) => discovery.list(`/api/v1/hosts?network_id=${network}`);

    /** Interface entries by `host port`. */
    async function ports(): Promise<Map<string, JsonRecord>> {
      const names = new Map((await hosts()).map((host) => [host.id, host.name]));
      const entries = await discovery.list(`/api/v1/if-entries?network_id=${networkId}`);
      return new Map(entries.map((entry) => [`${names.get(entry.host_id)} ${entry.if_descr}`, entry]));
    }

    /** Known remote end of each interface, `host port -> host port`. */
    async function neighbors(): Promise<string[]> {
      const all = await ports();
      const names = new Map([...all].map(([name, entry]) => [entry.id, name]));
      return [...all]
        .filter(([, { neighbor }]) => (neighbor ?? null) !== null)
        .map(([name, { neighbor }]) => `${name} -> ${names.get(neighbor.id) ?? `${neighbor.type} ${neighbor.id}`}`)
        .sort();
    }

    /** Cables of the topology, `host port - host port`, with the number of parallel cables. */
    async function cables(at?: string): Promise<string[]> {
      const query = at === undefined ? "" : `&at=${at}`;
      const response = await discovery.client.get(`topology?network_id=${networkId}${query}`);
      expect(response.body).toMatchObject({ success: true });
      const { nodes, links } = response.data as { nodes: JsonRecord[]; links: JsonRecord[] };
      const names = new Map(nodes.map((node) => [node.id, node.name]));
      return links
        .map(({ ends, parallel }) => {
          const ports = ends.map((end: JsonRecord) => `${names.get(end.node_id)} ${end.port}`).sort();
          return `${ports.join(" - ")} (${parallel})`;
        })
        .sort();
    }

    const cablesWith = (host: string) => [
      "cdp-box eth1 - switch-a p4 (1)",
      `host eth1 - ${host} (1)`,
      "switch-a p1 - switch-b p1 (2)",
      "switch-a p2 - switch-b p2 (2)",
    ];
    const [CABLES, CABLES_AFTER_MOVE] = [cablesWith("switch-a p3"), cablesWith("switch-b p4")];
    const HOSTS = ["cdp-box", "host", "manager.lab.example", "switch-a", "switch-b"];
    const inBothDirections = (links: readonly string[]) =>
      links
        .flatMap((link) => {
          const [first, second] = link.replace(/ \(\d\)$/, "").split(" - ");
          return [`${first} -> ${second}`, `${second} -> ${first}`];
        })
        .sort();

    test("a dry-run scan reports its findings, and writes nothing", async () => {
      const before = await discovery.sequence();
      const scan = await scanAll({ commit: false });
      const findings = await discovery.findings(scan);
      const created = findings.filter(({ type, entity }) => type === "Created" && entity === "host");
      expect(created.map(({ label }) => label).sort()).toEqual(HOSTS);
      expect(scan.outcome).toMatchObject({ problem: null, transactions: null, hosts: { devices: 4 } });
      expect(await discovery.sequence()).toBe(before);
      expect(await hosts()).toEqual([]);
    });

    test("a scan finds every host by its self-description, including the SNMPv3 one", async () => {
      const scan = await scanAll();
      expect(scan.outcome).toMatchObject({ problem: null, hosts: { found: 5, devices: 4, unreached: 0 } });
      const progress = { phase: "done", addresses_total: 254, addresses_done: 254, devices_answered: 4 };
      expect(scan.progress).toMatchObject(progress);
      const found = await hosts();
      expect(found.map(({ name }) => name).sort()).toEqual(HOSTS);
      const byName = new Map(found.map((host) => [host.name, host]));
      const addressesOf = (name: string) => {
        const addresses: JsonRecord[] = byName.get(name)?.ip_addresses;
        return addresses.map(({ ip_address }) => ip_address).sort();
      };
      expect(byName.get("switch-a")).toMatchObject({
        sys_name: "switch-a",
        sys_descr: "Lab switch",
        sys_location: "Lab",
        serial_number: "LAB-SWITCH-A",
        manufacturer: "Example",
        model: "EX-5",
        chassis_id: lab.mac("switch-a", "p1"),
      });
      expect(addressesOf("switch-a")).toEqual(["10.98.0.11", "127.0.0.1", "fd98::11"]);
      // The host without an agent is known by its reverse DNS name.
      expect(byName.get("switch-a")).toMatchObject({ hostname: "switch-a.lab.example" });
      expect(addressesOf("manager.lab.example")).toEqual([MANAGER_ADDRESS]);
      expect(byName.get("host")).toMatchObject({ sys_name: "host", chassis_id: lab.mac("host", "eth1") });
      expect(addressesOf("host")).toEqual(["10.98.0.21", "10.98.1.3", "127.0.0.1"]);
    });

    test("interfaces have their names, aliases, addresses, statuses, VLANs and learned addresses", async () => {
      const all = await ports();
      const listedVlans = await discovery.list(`/api/v1/vlans?network_id=${networkId}`);
      const vlans = new Map(listedVlans.map((vlan) => [vlan.id, `${vlan.number} ${vlan.name}`]));
      expect([...vlans.values()].sort()).toEqual(["1 default", "20 voice", "30 cameras"]);
      expect([...all.keys()].sort()).toEqual([
        ...["eth0", "eth1", "lo"].map((port) => `cdp-box ${port}`),
        ...["eth0", "eth1", "lo"].map((port) => `host ${port}`),
        ...["br0", "eth0", "lo", "p1", "p2", "p3", "p4", "p5"].map((port) => `switch-a ${port}`),
        ...["br0", "eth0", "lo", "p1", "p2", "p3", "p4", "p5"].map((port) => `switch-b ${port}`),
      ]);
      for (const name of ["switch-a", "switch-b"] as const) {
        for (const port of ["p1", "p2", "p3", "p4", "p5"]) {
          const ethernet = { if_name: port, if_type: 6, admin_status: "Up" };
          expect(all.get(`${name} ${port}`)).toMatchObject({ ...ethernet, mac_address: lab.mac(name, port) });
        }
        const trunk = { if_alias: "trunk p1", speed_bps: 10_000_000_000, oper_status: "Up" };
        expect(all.get(`${name} p1`)).toMatchObject(trunk);
        expect(all.get(`${name} p5`)).toMatchObject({ oper_status: "Down" });
        const learned = [...all]
          .filter(([key]) => key.startsWith(`${name} `))
          .flatMap(([key, entry]) => (entry.fdb_macs ?? []).map((mac: string) => `${key.split(" ")[1]} ${mac}`));
        expect(learned.sort()).toEqual(await lab.learned(name));
      }
      const tagged = (name: string) =>
        all
          .get(name)
          ?.vlan_ids.map((id: string) => vlans.get(id))
          .sort();
      expect(vlans.get(all.get("switch-b p1")?.native_vlan_id)).toBe("1 default");
      expect(tagged("switch-b p1")).toEqual(["1 default", "20 voice", "30 cameras"]);
      expect(tagged("switch-b p4")).toEqual(["20 voice"]);
      expect(tagged("switch-b p5")).toEqual(["30 cameras"]);
    });

    test("every neighbor is found, links are mutual, and parallel cables are on their own ports", async () => {
      expect(await neighbors()).toEqual(inBothDirections(CABLES));
      expect(await cables()).toEqual(CABLES);
    });

    test("a CDP-only device is placed at the port of its cable, not at all ports that receive its frames", async () => {
      const all = await ports();
      expect(all.get("switch-a p4")).toMatchObject({
        cdp_device_id: "cdp-box",
        cdp_port_id: "eth1",
        cdp_address: "10.98.0.22",
        cdp_platform: "Lab",
        neighbor: { id: all.get("cdp-box eth1")?.id },
      });
      const flooded = all.get("switch-b p1") as JsonRecord;
      const moreNames = flooded.more_neighbors.map(({ sys_name }: JsonRecord) => sys_name);
      expect([flooded.lldp_sys_name, ...moreNames].sort()).toEqual(["cdp-box", "switch-a"]);
      expect(flooded.neighbor.id).toBe(all.get("switch-a p1")?.id);
    });

    test("a silent host is found by its MAC address at its switch port", async () => {
      const located = await discovery.client.get(`locate?mac=${lab.mac("silent", "eth1")}&network_id=${networkId}`);
      expect(located.data.candidates[0]).toMatchObject({
        mac_address: lab.mac("silent", "eth1"),
        switch: { name: "switch-b" },
        port: { name: "p3" },
        vlan: { number: 1 },
      });
    });

    test("an identical scan writes no version", async () => {
      const before = await discovery.sequence();
      const scan = await scanAll();
      const nothing = { records: {}, findings: {}, transactions: null };
      expect(scan.outcome).toMatchObject({ ...nothing, hosts: { found: 5, devices: 4 } });
      expect(await discovery.sequence()).toBe(before);
      expect((await discovery.diff(networkId, scan.requested_at)).counts).toEqual({});
    });

    test("the diff of a moved cable contains only that move, and the topology shows it before and after", async () => {
      const before = await ports();
      await lab.moveCable("switch-a p3", "switch-b p4");
      const scan = await scanAll();
      const diff = await discovery.diff(networkId, scan.requested_at);
      expect(diff.counts).toEqual({ if_entry: { changed: 5 } });
      const names = new Map([...before].map(([name, entry]) => [entry.id, name]));
      const LLDP = "chassis_id mgmt_addr port_desc port_id sys_desc sys_name".split(" ").map((name) => `lldp_${name}`);
      const changed = (diff.changed as JsonRecord[]).map(({ id, fields }) => [
        names.get(id),
        (fields as JsonRecord[]).map(({ field }) => field).sort(),
      ]);
      expect(Object.fromEntries(changed)).toEqual({
        "host eth1": [...LLDP, "neighbor"],
        "switch-a p1": ["fdb_macs"],
        // The far end is the host or nothing, whose capabilities differ from a switch's.
        "switch-a p3": ["fdb_macs", "lldp_capabilities", ...LLDP, "neighbor", "oper_status"],
        "switch-b p1": ["fdb_macs"],
        "switch-b p4": ["fdb_macs", "lldp_capabilities", ...LLDP, "neighbor", "oper_status"],
      });
      expect((diff.changed as JsonRecord[]).every(({ transaction }) => transaction.actor.id === scan.id)).toBe(true);
      expect(await cables()).toEqual(CABLES_AFTER_MOVE);
      expect(await cables(scan.requested_at)).toEqual(CABLES);
      expect(await cables(scan.ended_at)).toEqual(CABLES_AFTER_MOVE);
      expect(await neighbors()).toEqual(inBothDirections(CABLES_AFTER_MOVE));
    });

    test("refused access is reported with the reason: wrong user, password or community, or no agent", async () => {
      const { name, authPassword, privPassword } = LAB_USER;
      const [host, wrongPassword] = [lab.address("host"), "another password"];
      const attempts: ReadonlyArray<readonly [credential: JsonRecord, address: string, reason: RegExp]> = [
        [user("stranger", authPassword, privPassword), host, /no user with this name/],
        [user(name, wrongPassword, privPassword), host, /the authentication password or protocol is wrong/],
        [user(name, authPassword, wrongPassword), host, /the privacy password or protocol is wrong/],
        [community("another"), lab.address("switch-a"), /no SNMP agent, or a wrong community/],
        [community(COMMUNITY), MANAGER_ADDRESS, /the port is closed/],
      ];
      await Promise.all(
        attempts.map(async ([credential, address, reason], index) => {
          const { id } = await discovery.network(`Refused ${index}`);
          await discovery.credential(credential, [id]);
          const scan = await discovery.runScan({ network_id: id, kind: "snmp", targets: [address] });
          const findings = await discovery.findings(scan);
          const unreached = { type: "Unreached", label: address, reason: expect.stringMatching(reason) };
          expect(findings).toMatchObject([unreached]);
          // Without disclosing a secret.
          expect(JSON.stringify([scan, findings])).not.toContain(wrongPassword);
          expect(await hosts(id)).toEqual([]);
        }),
      );
      expect(running.log).not.toContain(wrongPassword);
    });

    test("the initial addresses of a credential are probed first, and cleared", async () => {
      const { id } = await discovery.network("Initial");
      const target_ips = [lab.address("switch-b")];
      const credential = await discovery.credential(community(COMMUNITY), [id], { target_ips });
      expect(credential.target_ips).toEqual(target_ips);
      const scan = await discovery.runScan({ network_id: id, kind: "snmp" });
      const described = (await hosts(id)).filter(({ sys_name }) => sys_name !== null);
      expect(described.map((host) => host.name)).toEqual(["switch-b"]);
      const afterScan = (await discovery.client.get(`credentials/${credential.id}`)).data;
      expect(afterScan.target_ips).toBeNull();
      const history: JsonRecord[] = await discovery.list(`/api/v1/credentials/${credential.id}/history`);
      expect(history[0]).toMatchObject({
        operation: "Updated",
        changed_fields: ["target_ips"],
        transaction: { actor: { type: "Discovery", id: scan.id } },
      });
    });

    test("a killed LLDP daemon removes no known data", async () => {
      const before = await ports();
      await lab.stopDaemon("host", "lldpd", "KILL");
      expect(await lab.neighbors("host")).toBeNull();
      const scan = await scanAll();
      const after = await ports();
      const seen = { last_seen_at: after.get("host eth1")?.last_seen_at, last_discovery_id: scan.id };
      expect(after.get("host eth1")).toEqual({ ...before.get("host eth1"), ...seen });
      expect((await discovery.diff(networkId, scan.requested_at)).removed).toEqual([]);
      expect(await cables()).toEqual(CABLES_AFTER_MOVE);
      expect(await neighbors()).toEqual(inBothDirections(CABLES_AFTER_MOVE));
      await lab.startDaemon("host", "lldpd");
      await lab.waitUntilSettled();
    });

    test("a killed agent is reported as unreachable with the reason, and its device's data is kept", async () => {
      await scanAll();
      const before = await ports();
      await lab.stopDaemon("switch-b", "snmpd", "KILL");
      const scan = await scanAll();
      const unreached = (await discovery.findings(scan)).filter(({ type }) => type === "Unreached");
      const reason = expect.stringMatching(/10\.98\.0\.12: .*the port is closed/);
      expect(unreached).toMatchObject([{ entity: "host", label: "switch-b", reason }]);
      const diff = await discovery.diff(networkId, scan.requested_at);
      expect(diff.removed).toEqual([]);
      expect((diff.changed as JsonRecord[]).filter(({ entity_type }) => entity_type === "if_entry")).toEqual([]);
      expect([...(await ports()).keys()]).toEqual([...before.keys()]);
      expect(await cables()).toEqual(CABLES_AFTER_MOVE);
    });

    test("a running scan is canceled promptly, and reports it", async () => {
      const { id } = await discovery.network("Cancelled");
      const { id: scanId } = await discovery.start({ network_id: id, kind: "sweep", targets: [SILENT_CIDR] });
      await waitForProgress(scanId);
      const elapsedMs = stopwatch();
      const cancelled = await discovery.cancel(scanId);
      expect(elapsedMs()).toBeLessThan(5_000);
      expect(cancelled.data).toMatchObject({ status: "Cancelled" });
      expect(cancelled.data.progress.addresses_done).toBeLessThan(cancelled.data.progress.addresses_total);
      // The next scan of that network starts.
      const { outcome } = await discovery.runScan({ network_id: id, kind: "sweep", targets: [MANAGER_ADDRESS] });
      expect(outcome).toMatchObject({ hosts: { found: 1 } });
    });

    test("a scan interrupted by a kill is marked as interrupted at the next start, and its writes are kept", async () => {
      const { id } = await discovery.network("Interrupted");
      const { id: scanId } = await discovery.start({ network_id: id, kind: "sweep", targets: [SILENT_CIDR] });
      const queued = await discovery.start({ network_id: id, kind: "sweep", targets: [MANAGER_ADDRESS] });
      await waitForProgress(scanId);
      const hostCount = (await hosts()).length;
      running.kill("SIGKILL");
      await running.exited;
      await start();
      const interrupted = { status: "Interrupted", outcome: { problem: expect.any(String) } };
      expect(await discovery.scan(scanId)).toMatchObject(interrupted);
      expect(await discovery.scan(queued.id)).toMatchObject({ status: "Interrupted" });
      expect(await hosts()).toHaveLength(hostCount);
      const { outcome } = await discovery.runScan({ network_id: id, kind: "sweep", targets: [MANAGER_ADDRESS] });
      expect(outcome).toMatchObject({ hosts: { found: 1 } });
    });

    /** Waits until a scan has made some progress. */
    async function waitForProgress(scanId: string): Promise<void> {
      for (;;) {
        const { status, progress } = await discovery.scan(scanId);
        if (status === "Running" && progress?.requests > 0) return;
        if (status !== "Queued" && status !== "Running") throw new Error(`the scan is ${status}`);
        await Bun.sleep(20);
      }
    }
  },
);
