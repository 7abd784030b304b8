// Real test network in Linux network namespaces: two switches, their neighbors and daemons, and a namespace that
// manages them all. The namespaces end when this process exits in any way, and leave nothing on the machine.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { AuthProtocols, PrivProtocols, SecurityLevel } from "net-snmp";
import { systemTimers } from "../../../src/base/timers.ts";
import { Client } from "../appliance/client.ts";
import { EXECUTABLE, type Running, type RunOptions } from "../executable/executable.ts";
import { HANG_MS } from "../measure/limits.ts";
import { GATE_SOCKET, type GateWalk, portSocket } from "./gate.ts";
import {
  announceScript,
  CABLES,
  COMMUNITY,
  daemonCommand,
  daemonFiles,
  FORWARDING_TRUNK,
  LAB_USER,
  MANAGER,
  macOf,
  NODES,
  type NodeName,
  networkScript,
  node,
  type PortName,
  plugScript,
  TRUNKS,
  unplugScript,
} from "./network.ts";
import { type RecordingCredential, rowsOf } from "./record-agent.ts";

type Daemon = "snmpd" | "lldpd";

const POLL_MS = 60;

/** Reason why the lab cannot run here; null if it can. */
export const LAB_MISSING: string | null = missingReason();

const FOLDER = "/run/lab";
const LLDP_REM_SYS_NAME = "1.0.8802.1.1.2.1.4.1.1.9";
const LLDP_LOC_PORT_ID = "1.0.8802.1.1.2.1.3.7.1.3";
const IF_DESCR = "1.3.6.1.2.1.2.2.1.2";
const IF_OPER_STATUS = "1.3.6.1.2.1.2.2.1.8";
const SYS_NAME = "1.3.6.1.2.1.1.5";
const FDB_PORT = "1.3.6.1.2.1.17.4.3.1.2";
const FDB_STATUS = "1.3.6.1.2.1.17.4.3.1.3";
const BASE_PORT_IF_INDEX = "1.3.6.1.2.1.17.1.4.1.2";

export class Lab {
  private readonly initProcess: Bun.Subprocess<"pipe", "pipe", "pipe">;
  private readonly daemons = new Map<string, Bun.Subprocess>();
  private readonly cables = new Map<PortName, PortName>();
  private gate: Bun.Subprocess | null = null;

  private constructor(initProcess: Bun.Subprocess<"pipe", "pipe", "pipe">) {
    this.initProcess = initProcess;
  }

  /** Resolves when every switch reports its neighbors and knows every address behind its ports. */
  static async start(): Promise<Lab> {
    // Init process of the namespaces: exits when stdin is closed, and kills all processes in them.
    const enter = "unshare --mount --net --pid --fork --kill-child -- sh -c".split(" ");
    const initProcess = Bun.spawn([...enter, networkScript()], { stdin: "pipe", stdout: "pipe", stderr: "pipe" });
    const lab = new Lab(initProcess);
    try {
      const { value } = await initProcess.stdout.getReader().read();
      if (value === undefined)
        throw new Error(`the lab's network could not be created: ${await initProcess.stderr.text()}`);
      await lab.populate();
      await lab.waitUntilSettled();
    } catch (error) {
      const logs = lab.logs();
      await lab.stop();
      throw new Error(`the lab did not start: ${error instanceof Error ? error.message : String(error)}\n${logs}`, {
        cause: error,
      });
    }
    return lab;
  }

  /** Ends all processes in the lab, and with them its namespaces. Idempotent. */
  async stop(): Promise<void> {
    await this.initProcess.stdin.end();
    await this.initProcess.exited;
    await Promise.all(
      [...this.daemons.values(), ...(this.gate === null ? [] : [this.gate])].map((child) => child.exited),
    );
  }

  /** Management address of a node. */
  address(name: NodeName): string {
    const { address } = node(name);
    if (address === null) throw new Error(`${name} has no address`);
    return address;
  }

  mac(name: NodeName, port: string): string {
    return macOf(name, port);
  }

  /** Process id of the init process, whose namespaces are the lab's. */
  get pid(): number {
    return this.initProcess.pid;
  }

  /** Command prefix that runs a program in a namespace of the lab, as a child of the caller that ends with it. */
  commandIn(namespace: NodeName | typeof MANAGER): string[] {
    const enter = `nsenter --mount=/proc/${this.pid}/ns/mnt ip netns exec ${namespace}`;
    return `setpriv --pdeathsig KILL ${enter}`.split(" ");
  }

  /** Runs a program to completion. @returns the program's output @throws Error on failure */
  async exec(namespace: NodeName | typeof MANAGER, argv: readonly string[]): Promise<string> {
    return this.runInside(["ip", "netns", "exec", namespace, ...argv]);
  }

  /** Options for Sandbox to start the executable with only the lab in reach. */
  get executable(): RunOptions {
    return { command: [...this.commandIn(MANAGER), EXECUTABLE] };
  }

  /** Client of an appliance that runs in the lab. */
  async client(running: Running, key: string): Promise<Client> {
    const { port } = new URL(running.url);
    const opened = await fetch(`http://gate/port/${port}`, { unix: this.path(GATE_SOCKET) });
    if (!opened.ok) throw new Error(`the gate did not open port ${port}`);
    const unix = this.path(portSocket(Number(port)));
    const handle = async (request: Request) =>
      fetch(request.url, {
        method: request.method,
        headers: request.headers,
        ...(request.body === null ? {} : { body: await request.text() }),
        unix,
      });
    return new Client(handle, { authorization: `Bearer ${key}` }, running.url);
  }

  /**
   * Unplugs a cable from the port `from`. Once both ends have noticed, plugs it into the port `to`; its other end
   * stays.
   */
  async moveCable(from: PortName, to: PortName): Promise<void> {
    const end = [...this.cables].find(([, port]) => port === from)?.[0];
    if (end === undefined) throw new Error(`no cable in ${from}`);
    await this.runInside(["sh", "-ec", unplugScript(end, from)]);
    this.cables.delete(end);
    await this.waitForLinks();
    await this.runInside(["sh", "-ec", plugScript(end, to)]);
    this.cables.set(end, to);
    await this.waitUntilSettled();
  }

  /** Starts a stopped daemon, and waits until a query succeeds. */
  async startDaemon(name: NodeName, daemon: Daemon): Promise<void> {
    const script = `echo $$ >${FOLDER}/${name}/${daemon}.pid; exec "$@"`;
    const command = ["sh", "-c", script, "sh", "ip", "netns", "exec", name, ...daemonCommand(node(name), daemon)];
    this.daemons.set(
      `${name} ${daemon}`,
      Bun.spawn([...this.enterCommand, ...command], {
        stdin: "ignore",
        stdout: "ignore",
        stderr: Bun.file(this.path(`${name}/${daemon}.err`)),
      }),
    );
    if (daemon === "snmpd")
      await this.waitUntil(`${name} to answer`, async () => {
        const response = await this.walk(name, [SYS_NAME]);
        return response.ok ? true : response.text();
      });
  }

  /** Signals a daemon, and waits until it has exited. */
  async stopDaemon(name: NodeName, daemon: Daemon, signal: "TERM" | "KILL"): Promise<void> {
    const running = this.daemons.get(`${name} ${daemon}`);
    if (running === undefined) throw new Error(`no ${daemon} is running on ${name}`);
    const pid = readFileSync(this.path(`${name}/${daemon}.pid`), "utf8").trim();
    await this.runInside(["kill", `-${signal}`, pid]);
    await running.exited;
    this.daemons.delete(`${name} ${daemon}`);
  }

  /** Objects of an agent below these OIDs, in .snmprec format; null without a response. */
  async record(name: NodeName, subtrees: readonly string[]): Promise<string | null> {
    const response = await this.walk(name, subtrees);
    return response.ok ? response.text() : null;
  }

  /** Like `record`, as values by OID: numbers in decimal, bytes in hexadecimal digits. */
  async readRows(name: NodeName, subtrees: readonly string[]): Promise<Map<string, string> | null> {
    const recorded = await this.record(name, subtrees);
    return recorded === null ? null : rowsOf(recorded);
  }

  /** LLDP-MIB neighbors of an agent: `p1 switch-b`, one line each, sorted; null if it does not serve the MIB. */
  async neighbors(name: NodeName): Promise<string[] | null> {
    const rows = await this.readRows(name, [LLDP_REM_SYS_NAME, LLDP_LOC_PORT_ID]);
    if (rows === null || rows.size === 0) return null;
    const found: string[] = [];
    for (const [oid, value] of rows) {
      if (!oid.startsWith(`${LLDP_REM_SYS_NAME}.`)) continue;
      const port = oid.split(".").at(-2);
      found.push(`${textOf(rows.get(`${LLDP_LOC_PORT_ID}.${port}`))} ${textOf(value)}`);
    }
    return found.sort();
  }

  /** Forwarding table of a switch: `p3 00:1b:…`, sorted. */
  async learned(name: NodeName): Promise<string[]> {
    const rows =
      (await this.readRows(name, [IF_DESCR, BASE_PORT_IF_INDEX, FDB_PORT, FDB_STATUS])) ?? new Map<string, string>();
    const found: string[] = [];
    for (const [oid, port] of rows) {
      if (!oid.startsWith(`${FDB_PORT}.`)) continue;
      const index = oid.slice(FDB_PORT.length + 1);
      if (rows.get(`${FDB_STATUS}.${index}`) !== "3") continue;
      const mac = index.split(".").map((byte) => Number(byte).toString(16).padStart(2, "0"));
      found.push(`${textOf(rows.get(`${IF_DESCR}.${rows.get(`${BASE_PORT_IF_INDEX}.${port}`)}`))} ${mac.join(":")}`);
    }
    return found.sort();
  }

  /** Waits until a condition holds. @throws Error on timeout, with the last observation */
  async waitUntil(condition: string, check: () => Promise<boolean | string>): Promise<void> {
    const startedAt = performance.now();
    for (;;) {
      const observed = await check();
      if (observed === true) return;
      if (performance.now() - startedAt > HANG_MS)
        throw new Error(
          `waited ${HANG_MS} ms for ${condition}${typeof observed === "string" ? `; seen: ${observed}` : ""}`,
        );
      await new Promise<void>((resolve) => systemTimers.after(POLL_MS, resolve));
    }
  }

  /** Waits until the agents report the actual network. */
  async waitUntilSettled(): Promise<void> {
    await this.waitForLinks();
    // Every node sends once, so that every switch learns all nodes. On each iteration it would keep the daemons busy
    // with interface notifications.
    const announcements = NODES.filter(({ isSwitch }) => !isSwitch).map(({ name }) => announceScript(name));
    await this.runInside(["sh", "-ec", announcements.join("\n")]);
    await Promise.all(
      [...this.expectedLearned()].map(([name, expected]) =>
        this.waitUntil(`the addresses learned by ${name}`, async () => matches(await this.learned(name), expected)),
      ),
    );
  }

  /** Ports whose link is up, sorted. */
  async linksUp(name: NodeName): Promise<string[]> {
    const rows = (await this.readRows(name, [IF_DESCR, IF_OPER_STATUS])) ?? new Map<string, string>();
    const found: string[] = [];
    for (const [oid, value] of rows) {
      if (
        oid.startsWith(`${IF_DESCR}.`) &&
        node(name).ports.includes(textOf(value)) &&
        rows.get(`${IF_OPER_STATUS}${oid.slice(IF_DESCR.length)}`) === "1"
      )
        found.push(textOf(value));
    }
    return found.sort();
  }

  /** Starts the daemons and the gate. */
  private async populate(): Promise<void> {
    for (const labNode of NODES)
      for (const [path, text] of Object.entries(daemonFiles(labNode, process.execPath)))
        writeFileSync(this.hostPath(path), text, { mode: 0o755 });
    const gate = Bun.spawn(
      [...this.enterCommand, "ip", "netns", "exec", MANAGER, process.execPath, `${import.meta.dir}/gate.ts`, FOLDER],
      { stdin: "ignore", stdout: "pipe", stderr: "inherit" },
    );
    this.gate = gate;
    await gate.stdout.getReader().read();
    // An agent must run before its subagent connects.
    await Promise.all(
      NODES.filter(({ access }) => access !== "none").map(({ name }) => this.startDaemon(name, "snmpd")),
    );
    // A node that receives CDP before LLDP replies with CDP, which every node receives until it stops.
    const lldpNodes = NODES.filter(({ lldpd }) => lldpd !== null);
    await Promise.all(
      lldpNodes.filter(({ name }) => name !== "cdp-box").map(({ name }) => this.startDaemon(name, "lldpd")),
    );
    await Promise.all(
      (["switch-a", "switch-b"] as const).map((name) =>
        this.waitUntil(
          `the first neighbors of ${name}`,
          async () => ((await this.neighbors(name)) ?? []).length >= TRUNKS.length,
        ),
      ),
    );
    await this.startDaemon("cdp-box", "lldpd");
    for (const [end, port] of CABLES) this.cables.set(end, port);
  }

  private walk(name: NodeName, subtrees: readonly string[]): Promise<Response> {
    const credential: RecordingCredential =
      node(name).access === "user" ? { user: GATE_USER } : { community: COMMUNITY };
    const walk: GateWalk = { address: this.address(name), credential, subtrees };
    return fetch("http://gate/walk", { unix: this.path(GATE_SOCKET), method: "POST", body: JSON.stringify(walk) });
  }

  private async waitForLinks(): Promise<void> {
    await Promise.all([
      ...[...this.expectedNeighbors()].map(([name, expected]) =>
        this.waitUntil(`the neighbors of ${name}`, async () => matches(await this.neighbors(name), expected)),
      ),
      ...[...this.expectedLinks()].map(([name, expected]) =>
        this.waitUntil(`the links of ${name}`, async () => matches(await this.linksUp(name), expected)),
      ),
    ]);
  }

  /** Expected `neighbors`. A CDP sender is a neighbor wherever its frames arrive, unless hidden. */
  private expectedNeighbors(): Map<NodeName, string[]> {
    const expected = new Map<NodeName, string[]>([
      ["switch-a", TRUNKS.map((port) => `${port} switch-b`)],
      ["switch-b", TRUNKS.map((port) => `${port} switch-a`)],
      ["host", []],
    ]);
    for (const [end, switchEnd] of this.cables) {
      const [name, port] = split(end);
      const [switchName, switchPort] = split(switchEnd);
      if (node(name).lldpd !== null) expected.get(switchName)?.push(`${switchPort} ${name}`);
      expected.get(name)?.push(`${port} ${switchName}`);
      if (name === "cdp-box" && switchName === "switch-a")
        expected.get("switch-b")?.push(`${FORWARDING_TRUNK} ${name}`);
    }
    return expected;
  }

  /**
   * Expected `learned`: addresses behind the switch's own ports, and all others through the other switch, including its
   * trunk port.
   */
  private expectedLearned(): Map<NodeName, string[]> {
    const expected = new Map<NodeName, string[]>();
    for (const [own, other] of [
      ["switch-a", "switch-b"],
      ["switch-b", "switch-a"],
    ] as const) {
      const learned = [`${FORWARDING_TRUNK} ${macOf(other, FORWARDING_TRUNK)}`];
      for (const [end, switchEnd] of this.cables) {
        const [switchName, switchPort] = split(switchEnd);
        learned.push(`${switchName === own ? switchPort : FORWARDING_TRUNK} ${macOf(...split(end))}`);
      }
      expected.set(own, learned);
    }
    return expected;
  }

  private expectedLinks(): Map<NodeName, string[]> {
    const expected = new Map<NodeName, string[]>([
      ["switch-a", [...TRUNKS]],
      ["switch-b", [...TRUNKS]],
      ["host", []],
    ]);
    for (const [name, port] of [...this.cables].flat().map(split)) expected.get(name)?.push(port);
    return expected;
  }

  /** Command prefix for the lab's mount and process namespaces. */
  private get enterCommand(): string[] {
    return ["nsenter", `--mount=/proc/${this.pid}/ns/mnt`, `--pid=/proc/${this.pid}/ns/pid_for_children`];
  }

  private async runInside(command: readonly string[]): Promise<string> {
    const child = Bun.spawn([...this.enterCommand, ...command], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    if (code !== 0) throw new Error(`${command.join(" ")}: ${err}`);
    return out;
  }

  /** Path of a file in the lab's directory, as seen by this process. */
  private path(name: string): string {
    return this.hostPath(`${FOLDER}/${name}`);
  }

  private hostPath(path: string): string {
    return `/proc/${this.pid}/root${path}`;
  }

  /** Logs of the agents and daemons. */
  private logs(): string {
    const files = NODES.flatMap(({ name }) =>
      ["snmpd.log", "snmpd.err", "lldpd.err"].map((file) => this.path(`${name}/${file}`)),
    );
    return files.flatMap((file) => (existsSync(file) ? [`== ${file}`, readFileSync(file, "utf8")] : [])).join("\n");
  }
}

/** SNMPv3 user of `host`, as configured in net-snmp. */
const GATE_USER = {
  name: LAB_USER.name,
  level: SecurityLevel.authPriv,
  authProtocol: AuthProtocols.sha,
  authKey: LAB_USER.authPassword,
  privProtocol: PrivProtocols.aes,
  privKey: LAB_USER.privPassword,
};

/** True, or a description of the difference. */
function matches(observed: readonly string[] | null, expected: readonly string[]): true | string {
  const sorted = [...expected].sort();
  return Bun.deepEquals(observed, sorted) ? true : `${JSON.stringify(observed)} instead of ${JSON.stringify(sorted)}`;
}

function split(port: PortName): [NodeName, string] {
  return port.split(" ") as [NodeName, string];
}

function textOf(hexadecimal: string | undefined): string {
  return Buffer.from(hexadecimal ?? "", "hex").toString();
}

function missingReason(): string | null {
  if (process.getuid?.() !== 0) return "requires root";
  const missing = ["ip", "lldpcli", "lldpd", "nsenter", "setpriv", "snmpd", "unshare"].filter(
    (program) => Bun.which(program) === null,
  );
  if (missing.length > 0) return `missing ${missing.join(", ")}`;
  const script = "mount -t tmpfs tmpfs /run; ip link add type veth; ip link add type bridge";
  const attempt = Bun.spawnSync([..."unshare --mount --net --pid --fork -- sh -ec".split(" "), script], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  return attempt.success ? null : `cannot create network namespaces: ${attempt.stderr.toString().trim()}`;
}
