// Duration of a NetBox import, first and repeated: by the compiled executable, from a NetBox in this process into a
// running appliance, over HTTP on loopback. Usage: scripts/bench --import [--devices 2000] [--interfaces 50]
// [--addresses 20000] [--directory DIR] [--executable FILE]

import { join } from "node:path";
import { emptyWorld, type NetboxWorld, serveNetbox } from "../../test/support/imports/fake-netbox.ts";
import { ask } from "./asking.ts";
import { EXECUTABLE, type Running, startExecutable } from "./executable.ts";
import { folder, say, sayRow, settings } from "./program.ts";
import { type BuiltStore, buildStore } from "./store.ts";

const { devices, interfaces, addresses, directory, executable } = settings({
  devices: 2_000,
  interfaces: 50,
  /** Half of them on devices, half unassigned. */
  addresses: 20_000,
  directory: "",
  executable: EXECUTABLE,
});
const SITES = 20;
const VLANS_PER_SITE = 20;
const TOKEN = "0123456789abcdef0123456789abcdef01234567";

const store = await buildStore(
  join(folder(directory), "import"),
  [{ network: "campus", hosts: 1, entriesPerHost: 1, versions: 1 }],
  say,
);
const running = await startExecutable(executable, store.directory);
const netbox = serveNetbox(world(), { token: TOKEN });
say(`A NetBox of ${devices} devices, ${devices * interfaces} interfaces and ${addresses} addresses`);
sayRow("", 12, ["seconds", "its CPU", "server's", "MB", "wrote"]);
await measure("dry run", running, store, ["--dry-run"]);
await measure("first", running, store, []);
await measure("again", running, store, []);
await running.stop();
await netbox.stop();

/** A campus: every site has a prefix, VLANs, and an equal share of the devices. */
function world(): NetboxWorld {
  const made = emptyWorld();
  made.tags = [1, 2, 3, 4, 5].map((id) => ({ id, name: `tag ${id}`, color: "2196f3" }));
  for (let site = 1; site <= SITES; site += 1) {
    made.sites.push({ id: site, name: `site ${site}`, tags: ["tag 1"] });
    made.prefixes.push({ id: site, prefix: `10.${site}.0.0/16`, site, description: "all of it" });
    for (let number = 1; number <= VLANS_PER_SITE; number += 1)
      made.vlans.push({ id: site * 100 + number, vid: number, name: `vlan ${number}`, site });
  }
  for (let id = 1; id <= devices; id += 1) made.devices.push(deviceOf(id));
  for (let id = 1; id <= addresses; id += 1) {
    const device = (id % devices) + 1;
    const text = `10.${(device % SITES) + 1}.${(id >> 8) & 255}.${id & 255}/16`;
    const on = { device, interface: device * 1_000 + (Math.floor(id / devices) % interfaces) };
    made.addresses.push(
      id % 2 === 0
        ? { id, address: text, dnsName: `host-${id}.example.com`, on }
        : { id, address: text, dnsName: `station-${id}.example.com` },
    );
  }
  return made;
}

function deviceOf(id: number): NetboxWorld["devices"][number] {
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
      mac: `02:${(id * 1_000 + port)
        .toString(16)
        .padStart(10, "0")
        .replace(/(..)(?=.)/g, "$1:")}`,
      speedKbps: 1_000_000,
      description: `to desk ${port}`,
      native,
      tagged: port % 10 === 0 ? tagged : [],
    })),
  };
}

async function measure(name: string, server: Running, store: BuiltStore, more: readonly string[]): Promise<void> {
  const before = await transactions(server, store);
  const serverBefore = server.cpuSeconds();
  const started = performance.now();
  const child = Bun.spawn(
    [executable, "import", "netbox", netbox.url, "--server", `http://127.0.0.1:${server.port}`, ...more],
    {
      env: { ...process.env, NETLEDGER_TOKEN: TOKEN, NETLEDGER_KEY: store.key },
      stdout: "pipe",
      stderr: "ignore",
    },
  );
  const told = await child.stdout.text();
  if ((await child.exited) !== 0) throw new Error(`the import failed: ${told}`);
  const seconds = (performance.now() - started) / 1_000;
  const usage = child.resourceUsage();
  sayRow(name, 12, [
    seconds.toFixed(1),
    (Number(usage?.cpuTime.total ?? 0) / 1e6).toFixed(1),
    (server.cpuSeconds() - serverBefore).toFixed(1),
    ((usage?.maxRSS ?? 0) / 1e6).toFixed(0),
    String((await transactions(server, store)) - before),
  ]);
}

/** Number of transactions. */
async function transactions(server: Running, store: BuiltStore): Promise<number> {
  const [newest] = await ask<Array<{ sequence: number }>>(server, store, "GET", "/transactions?limit=1");
  return newest?.sequence ?? 0;
}
