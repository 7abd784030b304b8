// Scan benchmark (many switches by SNMP, a rescan without changes, a silent subnet), with the latency of a concurrent
// reader, on the compiled executable over loopback; the silent subnet in a separate network namespace (root). Usage:
// scripts/bench --discovery [--switches 1000] [--ports 48] [--silent 20] [--executable FILE]

import { join } from "node:path";
import { EXECUTABLE, type Running, startExecutable } from "./executable.ts";
import { folder, printLine, printRow, settings } from "./program.ts";
import { addSnmpCredential, runScan, type ScanRecord } from "./scans.ts";
import { readerCells, startReader } from "./start-reader.ts";
import { type BuiltStore, campusStore } from "./store.ts";
import { blocksOf, FORWARDING_ENTRIES, startSwitches } from "./switches.ts";

const options = settings({
  switches: 1_000,
  ports: 48,
  /** Prefix length of the silent subnet: 4,096 addresses. */
  silent: 20,
  "snmp-port": 16_161,
  executable: EXECUTABLE,
  /** Set when this script runs itself inside the silent namespace. */
  inside: false,
});
const { switches, ports, silent, "snmp-port": snmpPort, executable } = options;
const directory = folder();
if (options.inside) await measureSilentSubnet();
else {
  await measureSwitches();
  await runInSilentNamespace();
}

async function measureSwitches(): Promise<void> {
  printLine(`Starting ${switches} switches of ${ports} ports with ${FORWARDING_ENTRIES} forwarding entries each`);
  const agents = await startSwitches(switches, ports, snmpPort);
  try {
    const store = await campusStore(join(directory, "switches"), { hosts: 200, entriesPerHost: 50 }, () => {});
    const running = await startExecutable(executable, store.directory, ["--snmp-port", String(snmpPort)]);
    await addSnmpCredential(running, store);
    printLine("");
    printRow("", 34, ["seconds", "records", "ports/s", "reads", "p50 ms", "p99 ms", "longest", "MB"]);
    const targets = blocksOf(switches);
    await measure(running, store, "first scan", { kind: "snmp", targets });
    await measure(running, store, "rescan without changes", { kind: "snmp", targets });
    await measure(running, store, "rescan without changes", { kind: "snmp", targets });
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
  const scan = await runScan(running, store, request, async () => {
    memory = Math.max(memory, await running.anonymousMb());
  });
  const seconds = (performance.now() - started) / 1000;
  const report = await reader.stop();
  const records = Object.values(scan.outcome?.records ?? {}).reduce(
    (sum, { created, updated, deleted }) => sum + created + updated + deleted,
    0,
  );
  printRow(name, 34, [
    seconds.toFixed(1),
    String(records),
    Math.round((switches * ports) / seconds).toString(),
    ...readerCells(report),
    memory.toFixed(0),
  ]);
  if (scan.progress?.hosts_found !== switches)
    printLine(
      `  ${scan.progress?.hosts_found} of ${switches} answered; errors ${JSON.stringify(scan.progress?.errors)}`,
    );
  return scan;
}

/** Runs this script again in a namespace where an entire subnet drops all packets. */
async function runInSilentNamespace(): Promise<void> {
  if (process.getuid?.() !== 0 || Bun.which("ip") === null) {
    printLine("\nThe silent subnet requires root and iproute2: skipped.");
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
    const script = [process.execPath, import.meta.path, "--inside"];
    const args = ["--silent", String(silent), "--executable", executable];
    const inside = Bun.spawn(["ip", "netns", "exec", near, ...script, ...args], {
      stdout: "inherit",
      stderr: "inherit",
    });
    if ((await inside.exited) !== 0) throw new Error("the measurement in the silent namespace failed");
  } finally {
    for (const name of [near, far]) Bun.spawnSync(["ip", "netns", "delete", name], { stderr: "ignore" });
  }
}

async function measureSilentSubnet(): Promise<void> {
  const store = await campusStore(join(directory, "silent"), { hosts: 1, entriesPerHost: 1 }, () => {});
  const running = await startExecutable(executable, store.directory);
  const started = performance.now();
  const scan = await runScan(running, store, { kind: "sweep", targets: [`10.77.0.0/${silent}`] });
  const seconds = (performance.now() - started) / 1000;
  printLine(
    `\n${scan.progress?.addresses_total} addresses that drop everything, swept (${scan.outcome?.icmp ?? "no ICMP"}, then TCP): ${seconds.toFixed(1)} s, ${scan.progress?.hosts_found} reported alive`,
  );
  await running.stop();
}
