// Duration of scans (many switches by SNMP, a rescan without changes, a silent subnet) and latency of a concurrent
// reader: on the compiled executable, over loopback; the silent subnet in a separate network namespace (root). Usage:
// scripts/bench --discovery [--switches 1000] [--ports 48] [--silent 20] [--executable FILE]

import { join } from "node:path";
import { EXECUTABLE, type Running, startExecutable } from "./executable.ts";
import { folder, say, sayRow, settings } from "./program.ts";
import { addCommunity, type ScanRecord, scanned } from "./scanned.ts";
import { startReader } from "./start-reader.ts";
import { type BuiltStore, buildStore } from "./store.ts";
import { blocksOf, FORWARDING_ENTRIES, startSwitches } from "./switches.ts";

const told = settings({
  switches: 1_000,
  ports: 48,
  /** Prefix length of the silent subnet: 4,096 addresses. */
  silent: 20,
  "snmp-port": 16_161,
  executable: EXECUTABLE,
  /** Set when the script runs itself in the silent namespace. */
  inside: false,
});
const { switches, ports, silent, "snmp-port": snmpPort, executable } = told;
const directory = folder();
if (told.inside) await measureSilence();
else {
  await measureSwitches();
  await enterSilence();
}

async function measureSwitches(): Promise<void> {
  say(`Starting ${switches} switches of ${ports} ports with ${FORWARDING_ENTRIES} forwarding entries each`);
  const agents = await startSwitches(switches, ports, snmpPort);
  try {
    const store = await buildStore(
      join(directory, "switches"),
      [{ network: "campus", hosts: 200, entriesPerHost: 50, versions: 1 }],
      () => {},
    );
    const running = await startExecutable(executable, store.directory, ["--snmp-port", String(snmpPort)]);
    await addCommunity(running, store);
    say("");
    sayRow("", 34, ["seconds", "records", "ports/s", "reads", "p50 ms", "p99 ms", "longest", "MB"]);
    const targets = blocksOf(switches);
    await measure(running, store, "found for the first time", { kind: "snmp", targets });
    await measure(running, store, "the same again", { kind: "snmp", targets });
    await measure(running, store, "the same again", { kind: "snmp", targets });
    await running.stop();
  } finally {
    await agents.stop();
  }
}

async function measure(running: Running, store: BuiltStore, name: string, request: object): Promise<ScanRecord> {
  const paths = ["/api/v1/if-entries", "/api/v1/subnets"];
  const reader = await startReader({ port: running.port, paths, key: store.key, isPast: false });
  let memory = 0;
  const started = performance.now();
  const scan = await scanned(running, store, request, async () => {
    memory = Math.max(memory, await running.anonymousMb());
  });
  const seconds = (performance.now() - started) / 1000;
  const { reads, p50Ms, p99Ms, longestMs } = await reader.stop();
  const records = Object.values(scan.outcome?.records ?? {}).reduce(
    (sum, { created, updated, deleted }) => sum + created + updated + deleted,
    0,
  );
  sayRow(name, 34, [
    seconds.toFixed(1),
    String(records),
    Math.round((switches * ports) / seconds).toString(),
    String(reads),
    p50Ms.toFixed(2),
    p99Ms.toFixed(2),
    longestMs.toFixed(1),
    memory.toFixed(0),
  ]);
  if (scan.progress?.hosts_found !== switches)
    say(`  ${scan.progress?.hosts_found} of ${switches} answered; errors ${JSON.stringify(scan.progress?.errors)}`);
  return scan;
}

/** Runs this script again in a namespace where a whole subnet drops all packets. */
async function enterSilence(): Promise<void> {
  if (process.getuid?.() !== 0 || Bun.which("ip") === null) {
    say("\nThe silent subnet requires root and iproute2: skipped.");
    return;
  }
  const near = `netledger-bench-${process.pid}`;
  const far = `${near}-far`;
  const ip = (...args: string[]) => {
    const { exitCode, stderr } = Bun.spawnSync(["ip", ...args], { stdout: "ignore", stderr: "pipe" });
    if (exitCode !== 0) throw new Error(`ip ${args.join(" ")}: ${stderr.toString().trim()}`);
  };
  try {
    for (const name of [near, far]) ip("netns", "add", name);
    ip("link", "add", "bench0", "netns", near, "type", "veth", "peer", "name", "bench1", "netns", far);
    ip("-n", near, "link", "set", "lo", "up");
    ip("-n", near, "addr", "add", "10.76.0.1/30", "dev", "bench0");
    ip("-n", near, "link", "set", "bench0", "up");
    ip("-n", far, "addr", "add", "10.76.0.2/30", "dev", "bench1");
    ip("-n", far, "link", "set", "bench1", "up");
    // The far end does not forward: packets routed to it are dropped silently.
    ip("-n", near, "route", "add", `10.77.0.0/${silent}`, "via", "10.76.0.2");
    const inside = Bun.spawn(
      [
        "ip",
        "netns",
        "exec",
        near,
        process.execPath,
        import.meta.path,
        "--inside",
        "--silent",
        String(silent),
        "--executable",
        executable,
      ],
      { stdout: "inherit", stderr: "inherit" },
    );
    if ((await inside.exited) !== 0) throw new Error("the measurement in the silent namespace failed");
  } finally {
    for (const name of [near, far]) Bun.spawnSync(["ip", "netns", "delete", name], { stderr: "ignore" });
  }
}

async function measureSilence(): Promise<void> {
  const store = await buildStore(
    join(directory, "silent"),
    [{ network: "campus", hosts: 1, entriesPerHost: 1, versions: 1 }],
    () => {},
  );
  const running = await startExecutable(executable, store.directory);
  const started = performance.now();
  const scan = await scanned(running, store, { kind: "sweep", targets: [`10.77.0.0/${silent}`] });
  const seconds = (performance.now() - started) / 1000;
  say(
    `\n${scan.progress?.addresses_total} addresses that drop everything, swept (${scan.outcome?.icmp ?? "no ICMP"}, then TCP): ${seconds.toFixed(1)} s, ${scan.progress?.hosts_found} believed alive`,
  );
  await running.stop();
}
