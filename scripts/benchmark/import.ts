// NetBox import benchmark, first run and re-run. The compiled executable imports from an in-process fake NetBox into a
// running appliance, over loopback HTTP. Usage: scripts/bench --import [--devices 2000] [--interfaces 50] [--addresses
// 20000] [--directory DIR] [--executable FILE]

import { join } from "node:path";
import { emptyFixture, type NetboxFixture, serveNetbox } from "../../test/support/imports/fake-netbox.ts";
import { EXECUTABLE, type Running, startExecutable } from "./executable.ts";
import { folder, printLine, printRow, settings } from "./program.ts";
import { callApi } from "./requests.ts";
import { type BuiltStore, campusStore } from "./store.ts";

const { devices, interfaces, addresses, directory, executable } = settings({
  devices: 2_000,
  interfaces: 50,
  /** Number of addresses, half of them on devices, half unassigned. */
  addresses: 20_000,
  directory: "",
  executable: EXECUTABLE,
});
const SITES = 20;
const VLANS_PER_SITE = 20;
const TOKEN = "0123456789abcdef0123456789abcdef01234567";

const store = await campusStore(join(folder(directory), "import"), { hosts: 1, entriesPerHost: 1 });
const running = await startExecutable(executable, store.directory);
const netbox = serveNetbox(buildNetbox(), { token: TOKEN });
printLine(`NetBox with ${devices} devices, ${devices * interfaces} interfaces and ${addresses} addresses`);
printRow("", 12, ["seconds", "CPU", "server", "MB", "wrote"]);
await measure("dry run", running, store, ["--dry-run"]);
await measure("first import", running, store, []);
await measure("re-import", running, store, []);
await running.stop();
await netbox.stop();

/** Builds a campus: every site has a prefix, VLANs, and an equal share of the devices. */
function buildNetbox(): NetboxFixture {
  const data = emptyFixture();
  data.tags = [1, 2, 3, 4, 5].map((id) => ({ id, name: `tag ${id}`, color: "2196f3" }));
  for (let site = 1; site <= SITES; site += 1) {
    data.sites.push({ id: site, name: `site ${site}`, tags: ["tag 1"] });
    data.prefixes.push({ id: site, prefix: `10.${site}.0.0/16`, site, description: "whole site" });
    for (let number = 1; number <= VLANS_PER_SITE; number += 1)
      data.vlans.push({ id: site * 100 + number, vid: number, name: `vlan ${number}`, site });
  }
  for (let id = 1; id <= devices; id += 1) data.devices.push(buildDevice(id));
  for (let id = 1; id <= addresses; id += 1) {
    const device = (id % devices) + 1;
    const text = `10.${(device % SITES) + 1}.${(id >> 8) & 255}.${id & 255}/16`;
    const assignedTo = { device, interface: device * 1_000 + (Math.floor(id / devices) % interfaces) };
    data.addresses.push(
      id % 2 === 0
        ? { id, address: text, dnsName: `host-${id}.example.com`, on: assignedTo }
        : { id, address: text, dnsName: `station-${id}.example.com` },
    );
  }
  return data;
}

function buildDevice(id: number): NetboxFixture["devices"][number] {
  const site = (id % SITES) + 1;
  const native = { id: site * 100 + 1, vid: 1, name: "vlan 1" };
  const tagged = [2, 3].map((number) => ({ id: site * 100 + number, vid: number, name: `vlan ${number}` }));
  return {
    id,
    name: `switch-${id}`,
    site,
    serial: `SN${id}`,
    location: `room ${id % 50}`,
    tags: ["tag 2"],
    interfaces: Array.from({ length: interfaces }, (_, port) => ({
      id: id * 1_000 + port,
      name: `GigabitEthernet1/0/${port + 1}`,
      mac: macOf(id * 1_000 + port),
      speedKbps: 1_000_000,
      description: `to desk ${port}`,
      native,
      tagged: port % 10 === 0 ? tagged : [],
    })),
  };
}

function macOf(number: number): string {
  return `02:${number
    .toString(16)
    .padStart(10, "0")
    .replace(/(..)(?=.)/g, "$1:")}`;
}

async function measure(name: string, server: Running, store: BuiltStore, flags: readonly string[]): Promise<void> {
  const before = await countTransactions(server, store);
  const serverBefore = server.cpuSeconds();
  const started = performance.now();
  const child = Bun.spawn(
    [executable, "import", "netbox", netbox.url, "--server", `http://127.0.0.1:${server.port}`, ...flags],
    { env: { ...process.env, NETLEDGER_TOKEN: TOKEN, NETLEDGER_KEY: store.key }, stdout: "pipe", stderr: "ignore" },
  );
  const output = await child.stdout.text();
  if ((await child.exited) !== 0) throw new Error(`the import failed: ${output}`);
  const seconds = (performance.now() - started) / 1_000;
  const usage = child.resourceUsage();
  printRow(name, 12, [
    seconds.toFixed(1),
    (Number(usage?.cpuTime.total ?? 0) / 1e6).toFixed(1),
    (server.cpuSeconds() - serverBefore).toFixed(1),
    ((usage?.maxRSS ?? 0) / 1e6).toFixed(0),
    String((await countTransactions(server, store)) - before),
  ]);
}

async function countTransactions(server: Running, store: BuiltStore): Promise<number> {
  const [newest] = await callApi<Array<{ sequence: number }>>(server, store, "GET", "/transactions?limit=1");
  return newest?.sequence ?? 0;
}
