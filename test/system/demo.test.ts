// Demo on the executable: its directory, its users, and the scenarios of its month, on which console journeys and the
// handbook rely.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../support/appliance/client.ts";
import { accessibilityFindings, closeBrowser, hasChromium, Visitor } from "../support/browser/browser.ts";
import { DiscoveryClient } from "../support/executable/discovery-client.ts";
import { ensureExecutable, type Running, Sandbox } from "../support/executable/executable.ts";

const EMAIL = "demo@larkfield.example";
const PASSWORD = "look-around";
const DAY_MS = 24 * 60 * 60 * 1000;

beforeAll(ensureExecutable);

async function signIn(running: Running, email = EMAIL, password = PASSWORD): Promise<Client> {
  const client = running.client();
  const response = await client.post("/api/auth/login", { email, password });
  if (response.status !== 200) throw new Error(response.text);
  return client.with({ cookie: response.headers.get("set-cookie")?.split(";")[0] ?? "" });
}

describe("the demo's scenarios", () => {
  const sandbox = new Sandbox();
  let running: Running;
  let demo: Client;
  let campusId: string;
  beforeAll(async () => {
    running = await sandbox.serveDemo();
    demo = await signIn(running);
    campusId = (await data("networks")).find(({ name }: { name: string }) => name === "Main campus").id;
  });
  afterAll(async () => {
    await closeBrowser();
    await sandbox.close();
  });

  /** Days before the demo's creation day, and a time of that day, in UTC. */
  function timeOf(days: number, time: string): string {
    const { start } = JSON.parse(readFileSync(join(sandbox.data, "netledger-demo.json"), "utf8"));
    return `${new Date(Date.parse(start) - days * DAY_MS).toISOString().slice(0, 10)}T${time}:00.000Z`;
  }

  async function data(path: string): Promise<any> {
    const response = await demo.get(path);
    expect([path, response.status]).toEqual([path, 200]);
    return response.data;
  }

  const namesOf = (records: Array<{ name: string }>) => records.map(({ name }) => name).sort();

  test("startup output and API mark all data as fictitious", async () => {
    expect(running.lines[2]).toBe(
      `A demo with made-up data. Sign in at ${running.url}/ as ${EMAIL} with the password ${PASSWORD}`,
    );
    expect(await data("/api/version")).toMatchObject({ is_demo: true, read_only: false });
  });

  test("a month of history exists and verifies", async () => {
    const first = (await data("transactions?limit=1&order_direction=asc"))[0];
    expect(first.at.slice(0, 10)).toBe(timeOf(31, "00:00").slice(0, 10));
    const { code, out } = await sandbox.run(["verify", "--data", sandbox.data]);
    expect([code, out.trimEnd().endsWith("No problems found.")]).toEqual([0, true]);
    const devices = await data("hosts?limit=300&filter=model:*");
    expect(devices.length).toBeGreaterThan(15);
    expect((await demo.get("if-entries?limit=1")).body.meta.pagination.total_count).toBeGreaterThan(1_000);
  });

  test("locates the unknown machine of the third night at its port at 03:12, and not an hour later", async () => {
    const location = await data(`locate?mac=dc:a6:32:5e:70:13&at=${timeOf(3, "03:13")}`);
    expect(location.candidates[0]).toMatchObject({
      switch: { name: "acc-library-1" },
      port: { name: "Gi1/0/17", oper_status: "Up" },
      vlan: { number: 20 },
    });
    const [host] = await data(`hosts?search=10.20.20.199&at=${timeOf(3, "03:57")}`);
    expect([host.manufacturer, host.tags.length]).toEqual(["Raspberry Pi Trading Ltd", 1]);
    const filter = encodeURIComponent('if_name:"Gi1/0/17" AND host.name:acc-library-1');
    const port = await data(`if-entries?filter=${filter}&at=${timeOf(3, "04:00")}`);
    expect([port[0].admin_status, "fdb_macs" in port[0]]).toEqual(["Down", false]);
    const later = await data(`locate?mac=dc:a6:32:5e:70:13&at=${timeOf(3, "04:13")}`);
    expect(later.candidates.map(({ port }: { port: unknown }) => port)).toEqual([null]);
  });

  test("addresses before the renumbering still resolve to their hosts at that time", async () => {
    const marker = encodeURIComponent("marker:before the voice renumbering");
    const before = await data(`ip-addresses?search=10.20.40.21&at=${marker}`);
    const [host] = await data(`hosts?ids=${before[0].host_id}`);
    expect(host.name).toBe("phone-library-01.larkfield.example");
    expect(host.ip_addresses.map(({ ip_address }: { ip_address: string }) => ip_address)).toEqual(["10.20.44.21"]);
    expect(await data("ip-addresses?search=10.20.40.21")).toEqual([]);
    expect(namesOf(await data("subnets?limit=100"))).not.toContain("Voice (old)");
  });

  test("the outage appears in the activity with its reason, and on the upstream port", async () => {
    const portFilter = encodeURIComponent('if_name:"Te1/0/4" AND host.name:dist-science');
    const statusAt = async (time: string) =>
      (await data(`if-entries?filter=${portFilter}&at=${timeOf(6, time)}`))[0].oper_status;
    expect([await statusAt("13:00"), await statusAt("15:00"), await statusAt("17:00")]).toEqual(["Up", "Down", "Up"]);
    const { total } = await data(`activity?from=${timeOf(6, "14:00")}&to=${timeOf(6, "16:30")}&network_id=${campusId}`);
    expect(total).toBeGreaterThan(10);
    const [last] = await data("transactions?reason=INC-20877&limit=1&order_direction=desc");
    expect(last.reason).toBe("INC-20877: power restored");
  });

  test("the replacement switch is another host with the same name and another serial number", async () => {
    const period = `from=${encodeURIComponent("marker:before the switch in the library")}&to=${timeOf(9, "11:00")}`;
    const { added, removed } = await data(`diff?${period}&network_id=${campusId}&types=host`);
    const serials = (side: any[]) =>
      side.filter(({ name }) => name === "acc-library-2").map(({ record }) => record.serial_number);
    expect([serials(removed), serials(added)]).toEqual([["FOC2418U1LP"], ["FJC2734S0ZD"]]);
  });

  test("a link flaps, a machine keeps moving, and two claims conflict", async () => {
    const conflicts = await data("conflicts");
    const described = conflicts.map(({ type, value }: any) => `${type} ${value}`);
    expect(described).toEqual(["Address 10.20.20.42", "Subnet 10.20.30.0/25"]);
    const flaps = "group_by=record&types=if_entry&fields=oper_status&limit=1";
    const flapping = await data(`activity?from=${timeOf(2, "08:00")}&${flaps}`);
    expect(flapping.groups[0]).toMatchObject({ name: "Gi1/0/31" });
    const timeline = await data(`locate/timeline?mac=8c:16:45:31:4d:0e&from=${timeOf(2, "00:00")}`);
    expect(JSON.stringify(timeline)).toContain("acc-science-1");
    expect(JSON.stringify(timeline)).toContain("acc-admin-1");
  });

  test("a decommissioned host stays ignored until the entry is removed", async () => {
    const oldHosts = (days: number, time: string) => data(`hosts?search=app-old&at=${timeOf(days, time)}`);
    const [first] = await oldHosts(22, "12:00");
    expect([await oldHosts(20, "12:00"), await oldHosts(10, "12:00")]).toEqual([[], []]);
    const [returned] = await oldHosts(8, "11:00");
    expect(returned.id).not.toBe(first.id);
    expect(await data("hosts?search=app-old")).toEqual([]);
    const reasons = (await data("transactions?reason=CHG-2087")).map(({ reason }: { reason: string }) => reason);
    expect(reasons).toContain("CHG-2087: disks removed this time");
  });

  test.skipIf(!hasChromium)("the console marks all data as fictitious", async () => {
    const visitor = await Visitor.create(running.url);
    const page = await visitor.signIn(EMAIL, PASSWORD);
    await page.getByText("A demo with fictional data").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(visitor.problems()).toEqual([]);
    await visitor.close();
  });

  test("a caller limited to one site sees nothing of the other", async () => {
    const viewer = await signIn(running, "j.lund@larkfield.example");
    const { data: networks } = await viewer.get("networks");
    expect(namesOf(networks)).toEqual(["Harbour site"]);
    expect((await viewer.get(`locate?mac=dc:a6:32:5e:70:13&at=${timeOf(3, "03:13")}`)).data.candidates).toEqual([]);
  });

  test("a scan covers the fictitious network, and a repeated one changes nothing", async () => {
    const discovery = new DiscoveryClient(demo, (await data("networks"))[0].organization_id);
    const campus = await discovery.runScan({ network_id: campusId, kind: "snmp" });
    expect([campus.outcome.hosts.devices, campus.outcome.problem]).toEqual([13, null]);
    // With addresses that also exist on the campus.
    const { id } = (await data("networks")).find(({ name }: { name: string }) => name === "Harbour site");
    const harbour = await discovery.runScan({ network_id: id, kind: "full" });
    expect([harbour.outcome.hosts.devices, harbour.outcome.records]).toEqual([4, {}]);
  });
});

describe("the demo directory", () => {
  let sandbox: Sandbox;
  afterEach(() => sandbox.close());

  test("is reused at the next start; demo and real directories are not interchangeable", async () => {
    sandbox = new Sandbox();
    const first = await sandbox.serveDemo();
    const before = (await (await signIn(first)).get("ledger")).data;
    await first.stop();
    const second = await sandbox.serve(["--demo"]);
    const { data: after } = await (await signIn(second)).get("ledger");
    expect(after.sequence).toBeGreaterThanOrEqual(before.sequence);
    expect(second.log).not.toContain("demo_making");
    await second.stop();
    const real = await sandbox.run(["serve", "--data", sandbox.data, "--listen", "127.0.0.1:0"]);
    const isDemo = `${sandbox.data} holds a demo: serve it with --demo, or give another folder with --data.`;
    expect([real.code, real.err]).toEqual([3, `netledger: ${isDemo}\n`]);
    const folder = sandbox.path("real");
    await (await sandbox.serve([], { data: folder })).stop();
    const mixed = await sandbox.run(["serve", "--demo", "--data", folder, "--listen", "127.0.0.1:0"]);
    const isReal = `${folder} holds a real inventory: a demo needs its own folder; specify one with --data.`;
    expect([mixed.code, mixed.err]).toEqual([3, `netledger: ${isReal}\n`]);
  });

  test("gets a random password when reachable by others", async () => {
    sandbox = new Sandbox();
    const running = await sandbox.serveDemo(["--plain-http"]);
    const password = / with the password (\S+)$/m.exec(running.lines[2] ?? "")?.[1] ?? "";
    expect(password).toMatch(/^[a-z2-9]{20}$/);
    await signIn(running, EMAIL, password);
    const { status } = await running.client().post("/api/auth/login", { email: EMAIL, password: PASSWORD });
    expect(status).toBe(401);
    await running.stop();
    const restarted = await sandbox.serve(["--demo"]);
    await signIn(restarted);
  });

  test("cannot be combined with --read-only", async () => {
    sandbox = new Sandbox();
    const { code, err } = await sandbox.run(["serve", "--demo", "--read-only", "x"]);
    const message = "netledger: --demo and --read-only cannot be combined; see netledger serve --help\n";
    expect([code, err]).toEqual([2, message]);
    expect(existsSync(sandbox.data)).toBe(false);
  });
});
