// Demo on the executable: its folder, its users, and the stories of its month, on which console journeys and the
// handbook rely.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../support/appliance/client.ts";
import { accessibilityFindings, closeBrowser, hasChromium, Visitor } from "../support/browser/browser.ts";
import { DiscoveryClient } from "../support/executable/discovery-client.ts";
import { ensureExecutable, type Running, Workplace } from "../support/executable/executable.ts";

const EMAIL = "demo@larkfield.example";
const PASSWORD = "look-around";
const DAY_MS = 24 * 60 * 60 * 1000;

beforeAll(ensureExecutable);

async function signedIn(running: Running, email = EMAIL, password = PASSWORD): Promise<Client> {
  const client = running.client();
  const answer = await client.post("/api/auth/login", { email, password });
  if (answer.status !== 200) throw new Error(answer.text);
  return client.with({ cookie: answer.headers.get("set-cookie")?.split(";")[0] ?? "" });
}

describe("the demo's scenarios", () => {
  const place = new Workplace();
  let running: Running;
  let demo: Client;
  let campusId: string;
  beforeAll(async () => {
    running = await place.serveDemo();
    demo = await signedIn(running);
    campusId = (await data("networks")).find(({ name }: { name: string }) => name === "Main campus").id;
  });
  afterAll(async () => {
    await closeBrowser();
    await place.close();
  });

  /** Days before the demo's creation day, and a time of that day, in UTC. */
  function at(days: number, time: string): string {
    const { start } = JSON.parse(readFileSync(join(place.data, "netledger-demo.json"), "utf8"));
    return `${new Date(Date.parse(start) - days * DAY_MS).toISOString().slice(0, 10)}T${time}:00.000Z`;
  }

  async function data(path: string): Promise<any> {
    const answer = await demo.get(path);
    expect([path, answer.status]).toEqual([path, 200]);
    return answer.data;
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
    expect(first.at.slice(0, 10)).toBe(at(31, "00:00").slice(0, 10));
    const { code, out } = await place.run(["verify", "--data", place.data]);
    expect([code, out.trimEnd().endsWith("Sound.")]).toEqual([0, true]);
    const devices = await data("hosts?limit=300&filter=model:*");
    expect(devices.length).toBeGreaterThan(15);
    expect((await demo.get("if-entries?limit=1")).body.meta.pagination.total_count).toBeGreaterThan(1_000);
  });

  test("the unknown machine of the third night is found at its port at 03:12, and nowhere an hour later", async () => {
    const found = await data(`locate?mac=dc:a6:32:5e:70:13&at=${at(3, "03:13")}`);
    expect(found.candidates[0]).toMatchObject({
      switch: { name: "acc-library-1" },
      port: { name: "Gi1/0/17", oper_status: "Up" },
      vlan: { number: 20 },
    });
    const [host] = await data(`hosts?search=10.20.20.199&at=${at(3, "03:57")}`);
    expect([host.manufacturer, host.tags.length]).toEqual(["Raspberry Pi Trading Ltd", 1]);
    const port = await data(
      `if-entries?filter=${encodeURIComponent('if_name:"Gi1/0/17" AND host.name:acc-library-1')}&at=${at(3, "04:00")}`,
    );
    expect([port[0].admin_status, "fdb_macs" in port[0]]).toEqual(["Down", false]);
    const later = await data(`locate?mac=dc:a6:32:5e:70:13&at=${at(3, "04:13")}`);
    expect(later.candidates.map((each: { port: unknown }) => each.port)).toEqual([null]);
  });

  test("addresses from before the renumbering still have their hosts at that time", async () => {
    const before = await data(
      `ip-addresses?search=10.20.40.21&at=${encodeURIComponent("marker:before the voice renumbering")}`,
    );
    const [host] = await data(`hosts?ids=${before[0].host_id}`);
    expect(host.name).toBe("phone-library-01.larkfield.example");
    expect(host.ip_addresses.map((each: { ip_address: string }) => each.ip_address)).toEqual(["10.20.44.21"]);
    expect(await data("ip-addresses?search=10.20.40.21")).toEqual([]);
    expect(namesOf(await data("subnets?limit=100"))).not.toContain("Voice (old)");
  });

  test("the outage is in the activity, with its reason, and on the upstream port", async () => {
    const during = encodeURIComponent('if_name:"Te1/0/4" AND host.name:dist-science');
    const statusAt = async (time: string) =>
      (await data(`if-entries?filter=${during}&at=${at(6, time)}`))[0].oper_status;
    expect([await statusAt("13:00"), await statusAt("15:00"), await statusAt("17:00")]).toEqual(["Up", "Down", "Up"]);
    const { total } = await data(`activity?from=${at(6, "14:00")}&to=${at(6, "16:30")}&network_id=${campusId}`);
    expect(total).toBeGreaterThan(10);
    const [last] = await data("transactions?reason=INC-20877&limit=1&order_direction=desc");
    expect(last.reason).toBe("INC-20877: power restored");
  });

  test("the replacement switch is another host of the same name, with another serial number", async () => {
    const period = `from=${encodeURIComponent("marker:before the switch in the library")}&to=${at(9, "11:00")}`;
    const { added, removed } = await data(`diff?${period}&network_id=${campusId}&types=host`);
    const serials = (side: any[]) =>
      side.filter(({ name }) => name === "acc-library-2").map(({ record }) => record.serial_number);
    expect([serials(removed), serials(added)]).toEqual([["FOC2418U1LP"], ["FJC2734S0ZD"]]);
  });

  test("a link flaps, a machine keeps moving, and two claims conflict", async () => {
    const conflicts = await data("conflicts");
    expect(conflicts.map(({ type, value }: any) => [type, value])).toEqual([
      ["Address", "10.20.20.42"],
      ["Subnet", "10.20.30.0/25"],
    ]);
    const flapping = await data(
      `activity?from=${at(2, "08:00")}&group_by=record&types=if_entry&fields=oper_status&limit=1`,
    );
    expect(flapping.groups[0]).toMatchObject({ name: "Gi1/0/31" });
    const places = await data(`locate/timeline?mac=8c:16:45:31:4d:0e&from=${at(2, "00:00")}`);
    expect(JSON.stringify(places)).toContain("acc-science-1");
    expect(JSON.stringify(places)).toContain("acc-admin-1");
  });

  test("a permanently decommissioned host is ignored on return, until that is lifted", async () => {
    const of = (days: number, time: string) => data(`hosts?search=app-old&at=${at(days, time)}`);
    const [first] = await of(22, "12:00");
    expect([await of(20, "12:00"), await of(10, "12:00")]).toEqual([[], []]);
    const [again] = await of(8, "11:00");
    expect(again.id).not.toBe(first.id);
    expect(await data("hosts?search=app-old")).toEqual([]);
    const reasons = (await data("transactions?reason=CHG-2087")).map((each: { reason: string }) => each.reason);
    expect(reasons).toContain("CHG-2087: disks removed this time");
  });

  test.skipIf(!hasChromium)("the console marks all data as fictitious", async () => {
    const visitor = await Visitor.arrive(running.url);
    const page = await visitor.signIn(EMAIL, PASSWORD);
    await page.getByText("A demo: everything in it is made up").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(visitor.troubles()).toEqual([]);
    await visitor.leave();
  });

  test("a caller limited to one site sees nothing of the other", async () => {
    const viewer = await signedIn(running, "j.lund@larkfield.example");
    const { data: networks } = await viewer.get("networks");
    expect(namesOf(networks)).toEqual(["Harbour site"]);
    expect((await viewer.get(`locate?mac=dc:a6:32:5e:70:13&at=${at(3, "03:13")}`)).data.candidates).toEqual([]);
  });

  test("a scan covers the fictitious network, and a repeated one changes nothing", async () => {
    const discovery = new DiscoveryClient(demo, (await data("networks"))[0].organization_id);
    const campus = await discovery.scanned({ network_id: campusId, kind: "snmp" });
    expect([campus.outcome.hosts.devices, campus.outcome.problem]).toEqual([13, null]);
    // With addresses that also exist on the campus.
    const { id } = (await data("networks")).find(({ name }: { name: string }) => name === "Harbour site");
    const harbour = await discovery.scanned({ network_id: id, kind: "full" });
    expect([harbour.outcome.hosts.devices, harbour.outcome.records]).toEqual([4, {}]);
  });
});

describe("the demo folder", () => {
  let place: Workplace;
  afterEach(() => place.close());

  test("is kept for the next start, is served as a demo only, and is not used as a real one", async () => {
    place = new Workplace();
    const first = await place.serveDemo();
    const before = (await (await signedIn(first)).get("ledger")).data;
    await first.stop();
    const second = await place.serve(["--demo"]);
    const { data: after } = await (await signedIn(second)).get("ledger");
    expect(after.sequence).toBeGreaterThanOrEqual(before.sequence);
    expect(second.log).not.toContain("demo_making");
    await second.stop();
    const real = await place.run(["serve", "--data", place.data, "--listen", "127.0.0.1:0"]);
    expect([real.code, real.err]).toEqual([
      3,
      `netledger: ${place.data} holds a demo: serve it with --demo, or give another folder with --data.\n`,
    ]);
    const folder = place.path("real");
    await (await place.serve([], { data: folder })).stop();
    const mixed = await place.run(["serve", "--demo", "--data", folder, "--listen", "127.0.0.1:0"]);
    expect([mixed.code, mixed.err]).toEqual([
      3,
      `netledger: ${folder} holds a real inventory: a demo needs a folder of its own, give one with --data.\n`,
    ]);
  });

  test("gets a random password when reachable by others", async () => {
    place = new Workplace();
    const running = await place.serveDemo(["--plain-http"]);
    const password = / with the password (\S+)$/m.exec(running.lines[2] ?? "")?.[1] ?? "";
    expect(password).toMatch(/^[a-z2-9]{20}$/);
    await signedIn(running, EMAIL, password);
    const { status } = await running.client().post("/api/auth/login", { email: EMAIL, password: PASSWORD });
    expect(status).toBe(401);
    await running.stop();
    const own = await place.serve(["--demo"]);
    await signedIn(own);
  });

  test("is refused together with options that exclude a demo", async () => {
    place = new Workplace();
    const { code, err } = await place.run(["serve", "--demo", "--read-only", "x"]);
    expect([code, err]).toEqual([
      2,
      "netledger: --demo and --read-only cannot be combined; see netledger serve --help\n",
    ]);
    expect(existsSync(place.data)).toBe(false);
  });
});
