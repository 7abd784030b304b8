// A real network for tests: two switches, their neighbors and their daemons in Linux network namespaces, and one more
// from which all of them are managed. All of it lives in namespaces that end with this process, however that ends:
// nothing is left on the machine.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { AuthProtocols, PrivProtocols, SecurityLevel } from "net-snmp";
import { systemTimers } from "../../../src/base/timers.ts";
import { Client } from "../appliance/client.ts";
import { EXECUTABLE, type Running, type RunOptions } from "../executable/executable.ts";
import { HANG_MS } from "../measure/limits.ts";
import { GATE_SOCKET, type GateWalk, portSocket } from "./gate.ts";
import {
  CABLES,
  COMMUNITY,
  daemonCommand,
  daemonFiles,
  LAB_USER,
  MANAGER,
  macOf,
  NODES,
  type NodeName,
  networkScript,
  node,
  type PortName,
  plugScript,
  speakScript,
  TRUNK_OF_FRAMES,
  TRUNKS,
  unplugScript,
} from "./network.ts";
import { type RecordingCredential, rowsOf } from "./record-agent.ts";

type Daemon = "snmpd" | "lldpd";

const POLL_MS = 60;

/** Why there can be no lab here, in a clause; null where there can. */
export const LAB_MISSING: string | null = whyMissing();

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
  private readonly keeper: Bun.Subprocess<"pipe", "pipe", "pipe">;
  private readonly daemons = new Map<string, Bun.Subprocess>();
  private readonly cables = new Map<PortName, PortName>();
  private gate: Bun.Subprocess | null = null;

  private constructor(keeper: Bun.Subprocess<"pipe", "pipe", "pipe">) {
    this.keeper = keeper;
  }

  /** Resolves when every switch names its neighbors and knows every address behind its ports. */
  static async start(): Promise<Lab> {
    // The first process of the namespaces ends when nobody holds its standard input any more, and takes with it
    // whatever runs there.
    const keeper = Bun.spawn(
      ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--", "sh", "-c", networkScript()],
      { stdin: "pipe", stdout: "pipe", stderr: "pipe" },
    );
    const lab = new Lab(keeper);
    try {
      const { value } = await keeper.stdout.getReader().read();
      if (value === undefined) throw new Error(`the lab's network could not be made: ${await keeper.stderr.text()}`);
      await lab.populate();
      await lab.settled();
    } catch (error) {
      const logs = lab.logs();
      await lab.stop();
      throw new Error(`the lab did not come up: ${error instanceof Error ? error.message : String(error)}\n${logs}`, {
        cause: error,
      });
    }
    return lab;
  }

  /** Everything in it ends, and with it its namespaces. Any number of times. */
  async stop(): Promise<void> {
    await this.keeper.stdin.end();
    await this.keeper.exited;
    await Promise.all(
      [...this.daemons.values(), ...(this.gate === null ? [] : [this.gate])].map((each) => each.exited),
    );
  }

  /** Where an agent answers. */
  address(name: NodeName): string {
    const { address } = node(name);
    if (address === null) throw new Error(`${name} has no address`);
    return address;
  }

  mac(name: NodeName, port: string): string {
    return macOf(name, port);
  }

  /** The process id of the first process: its namespaces are the lab's. */
  get pid(): number {
    return this.keeper.pid;
  }

  /** What runs a program in a namespace of the lab, as the child of whoever starts it, and ends it with that. */
  commandIn(namespace: NodeName | typeof MANAGER): string[] {
    return [
      "setpriv",
      "--pdeathsig",
      "KILL",
      "nsenter",
      `--mount=/proc/${this.pid}/ns/mnt`,
      "ip",
      "netns",
      "exec",
      namespace,
    ];
  }

  /** Runs a program to its end. @returns what it printed @throws Error where it fails */
  async exec(namespace: NodeName | typeof MANAGER, argv: readonly string[]): Promise<string> {
    return this.inside(["ip", "netns", "exec", namespace, ...argv]);
  }

  /** How Workplace starts the executable so that it sees the lab and nothing else. */
  get executable(): RunOptions {
    return { command: [...this.commandIn(MANAGER), EXECUTABLE] };
  }

  /** A client of an appliance that was started in the lab. */
  async client(running: Running, key: string): Promise<Client> {
    const { port } = new URL(running.url);
    const opened = await fetch(`http://gate/port/${port}`, { unix: this.path(GATE_SOCKET) });
    if (!opened.ok) throw new Error(`the gate does not open port ${port}`);
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
   * Takes a cable out of the port `from` and, when both ends have missed it, puts its other end, which stays, into the
   * port `to`.
   */
  async moveCable(from: PortName, to: PortName): Promise<void> {
    const end = [...this.cables].find(([, port]) => port === from)?.[0];
    if (end === undefined) throw new Error(`no cable is in ${from}`);
    await this.inside(["sh", "-ec", unplugScript(end, from)]);
    this.cables.delete(end);
    await this.linksSettled();
    await this.inside(["sh", "-ec", plugScript(end, to)]);
    this.cables.set(end, to);
    await this.settled();
  }

  /** Starts a daemon that was stopped, and waits until it is asked with success. */
  async startDaemon(name: NodeName, daemon: Daemon): Promise<void> {
    const pidFile = `${FOLDER}/${name}/${daemon}.pid`;
    const command = [
      "sh",
      "-c",
      `echo $$ >${pidFile}; exec "$@"`,
      "sh",
      "ip",
      "netns",
      "exec",
      name,
      ...daemonCommand(node(name), daemon),
    ];
    this.daemons.set(
      `${name} ${daemon}`,
      Bun.spawn([...this.entering, ...command], {
        stdin: "ignore",
        stdout: "ignore",
        stderr: Bun.file(this.path(`${name}/${daemon}.err`)),
      }),
    );
    if (daemon === "snmpd")
      await this.until(`${name} to answer`, async () => {
        const answer = await this.walk(name, [SYS_NAME]);
        return answer.ok ? true : answer.text();
      });
  }

  /** Ends a daemon by a signal, and waits until it is gone. */
  async stopDaemon(name: NodeName, daemon: Daemon, signal: "TERM" | "KILL"): Promise<void> {
    const running = this.daemons.get(`${name} ${daemon}`);
    if (running === undefined) throw new Error(`no ${daemon} runs on ${name}`);
    const pid = readFileSync(this.path(`${name}/${daemon}.pid`), "utf8").trim();
    await this.inside(["kill", `-${signal}`, pid]);
    await running.exited;
    this.daemons.delete(`${name} ${daemon}`);
  }

  /** What an agent serves below these OIDs, as .snmprec text; null where it does not answer. */
  async record(name: NodeName, subtrees: readonly string[]): Promise<string | null> {
    const answer = await this.walk(name, subtrees);
    return answer.ok ? answer.text() : null;
  }

  /** The same by OID; numbers in decimal digits, bytes in hexadecimal ones. */
  async ask(name: NodeName, subtrees: readonly string[]): Promise<Map<string, string> | null> {
    const recorded = await this.record(name, subtrees);
    return recorded === null ? null : rowsOf(recorded);
  }

  /** Whom an agent names by LLDP-MIB: `p1 switch-b`, one for each neighbor, sorted; null where it serves none of it. */
  async neighbors(name: NodeName): Promise<string[] | null> {
    const rows = await this.ask(name, [LLDP_REM_SYS_NAME, LLDP_LOC_PORT_ID]);
    if (rows === null || rows.size === 0) return null;
    const found: string[] = [];
    for (const [oid, value] of rows) {
      if (!oid.startsWith(`${LLDP_REM_SYS_NAME}.`)) continue;
      const port = oid.split(".").at(-2);
      found.push(`${textOf(rows.get(`${LLDP_LOC_PORT_ID}.${port}`))} ${textOf(value)}`);
    }
    return found.sort();
  }

  /** What a switch has learned: `p3 00:1b:…`, sorted. */
  async learned(name: NodeName): Promise<string[]> {
    const rows =
      (await this.ask(name, [IF_DESCR, BASE_PORT_IF_INDEX, FDB_PORT, FDB_STATUS])) ?? new Map<string, string>();
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

  /** Waits until something holds. @throws Error after a time that is too long for it, with what was seen last */
  async until(what: string, holds: () => Promise<boolean | string>): Promise<void> {
    const began = performance.now();
    for (;;) {
      const seen = await holds();
      if (seen === true) return;
      if (performance.now() - began > HANG_MS)
        throw new Error(`waited ${HANG_MS} ms for ${what}${typeof seen === "string" ? `; seen: ${seen}` : ""}`);
      await new Promise<void>((resolve) => systemTimers.after(POLL_MS, resolve));
    }
  }

  /** Waits until the agents say of the network what it is. */
  async settled(): Promise<void> {
    await this.linksSettled();
    // Everybody says something once, so that every switch knows where everybody is. A daemon that is told of an
    // interface at every turn would do nothing else.
    await this.inside([
      "sh",
      "-ec",
      NODES.filter(({ isSwitch }) => !isSwitch)
        .map(({ name }) => speakScript(name))
        .join("\n"),
    ]);
    await Promise.all(
      [...this.expectedLearned()].map(([name, wanted]) =>
        this.until(`what ${name} learns`, async () => same(await this.learned(name), wanted)),
      ),
    );
  }

  /** Its ports that are up, sorted. */
  async linksUp(name: NodeName): Promise<string[]> {
    const rows = (await this.ask(name, [IF_DESCR, IF_OPER_STATUS])) ?? new Map<string, string>();
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
    for (const each of NODES)
      for (const [path, text] of Object.entries(daemonFiles(each, process.execPath)))
        writeFileSync(this.outside(path), text, { mode: 0o755 });
    const gate = Bun.spawn(
      [...this.entering, "ip", "netns", "exec", MANAGER, process.execPath, `${import.meta.dir}/gate.ts`, FOLDER],
      { stdin: "ignore", stdout: "pipe", stderr: "inherit" },
    );
    this.gate = gate;
    await gate.stdout.getReader().read();
    // An agent has to be there before its subagent asks for it.
    await Promise.all(
      NODES.filter(({ access }) => access !== "none").map(({ name }) => this.startDaemon(name, "snmpd")),
    );
    // Who hears CDP before LLDP answers by CDP, and is heard everywhere for as long as that holds.
    const talkers = NODES.filter(({ lldpd }) => lldpd !== null);
    await Promise.all(
      talkers.filter(({ name }) => name !== "cdp-box").map(({ name }) => this.startDaemon(name, "lldpd")),
    );
    await Promise.all(
      (["switch-a", "switch-b"] as const).map((name) =>
        this.until(
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

  private async linksSettled(): Promise<void> {
    await Promise.all([
      ...[...this.expectedNeighbors()].map(([name, wanted]) =>
        this.until(`the neighbors of ${name}`, async () => same(await this.neighbors(name), wanted)),
      ),
      ...[...this.expectedLinks()].map(([name, wanted]) =>
        this.until(`the links of ${name}`, async () => same(await this.linksUp(name), wanted)),
      ),
    ]);
  }

  /** As `neighbors` tells them. What speaks CDP is heard by whoever does not hide it, wherever its frames come. */
  private expectedNeighbors(): Map<NodeName, string[]> {
    const expected = new Map<NodeName, string[]>([
      ["switch-a", TRUNKS.map((port) => `${port} switch-b`)],
      ["switch-b", TRUNKS.map((port) => `${port} switch-a`)],
      ["host", []],
    ]);
    for (const [end, at] of this.cables) {
      const [name, port] = split(end);
      const [switchName, switchPort] = split(at);
      if (node(name).lldpd !== null) expected.get(switchName)?.push(`${switchPort} ${name}`);
      expected.get(name)?.push(`${port} ${switchName}`);
      if (name === "cdp-box" && switchName === "switch-a") expected.get("switch-b")?.push(`${TRUNK_OF_FRAMES} ${name}`);
    }
    return expected;
  }

  /**
   * As `learned` tells it: what is behind a switch's own ports, and the rest by way of the other switch, that one's
   * port included.
   */
  private expectedLearned(): Map<NodeName, string[]> {
    const expected = new Map<NodeName, string[]>();
    for (const [own, other] of [
      ["switch-a", "switch-b"],
      ["switch-b", "switch-a"],
    ] as const) {
      const learned = [`${TRUNK_OF_FRAMES} ${macOf(other, TRUNK_OF_FRAMES)}`];
      for (const [end, at] of this.cables) {
        const [switchName, switchPort] = split(at);
        learned.push(`${switchName === own ? switchPort : TRUNK_OF_FRAMES} ${macOf(...split(end))}`);
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

  /** What runs a program in the lab's mount and process namespaces. */
  private get entering(): string[] {
    return ["nsenter", `--mount=/proc/${this.pid}/ns/mnt`, `--pid=/proc/${this.pid}/ns/pid_for_children`];
  }

  private async inside(command: readonly string[]): Promise<string> {
    const child = Bun.spawn([...this.entering, ...command], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    if (code !== 0) throw new Error(`${command.join(" ")}: ${err}`);
    return out;
  }

  /** A file of the lab's own folder, as this process sees it. */
  private path(name: string): string {
    return this.outside(`${FOLDER}/${name}`);
  }

  private outside(path: string): string {
    return `/proc/${this.pid}/root${path}`;
  }

  /** What agents and daemons have written to their logs. */
  private logs(): string {
    const files = NODES.flatMap(({ name }) =>
      ["snmpd.log", "snmpd.err", "lldpd.err"].map((file) => this.path(`${name}/${file}`)),
    );
    return files.flatMap((file) => (existsSync(file) ? [`== ${file}`, readFileSync(file, "utf8")] : [])).join("\n");
  }
}

/** The user of `host`, as net-snmp has users. */
const GATE_USER = {
  name: LAB_USER.name,
  level: SecurityLevel.authPriv,
  authProtocol: AuthProtocols.sha,
  authKey: LAB_USER.authPassword,
  privProtocol: PrivProtocols.aes,
  privKey: LAB_USER.privPassword,
};

/** True, or what was seen instead, in words. */
function same(seen: readonly string[] | null, wanted: readonly string[]): true | string {
  const sorted = [...wanted].sort();
  return Bun.deepEquals(seen, sorted) ? true : `${JSON.stringify(seen)} instead of ${JSON.stringify(sorted)}`;
}

function split(port: PortName): [NodeName, string] {
  return port.split(" ") as [NodeName, string];
}

function textOf(hexadecimal: string | undefined): string {
  return Buffer.from(hexadecimal ?? "", "hex").toString();
}

function whyMissing(): string | null {
  if (process.getuid?.() !== 0) return "it takes root";
  const missing = ["ip", "lldpcli", "lldpd", "nsenter", "setpriv", "snmpd", "unshare"].filter(
    (program) => Bun.which(program) === null,
  );
  if (missing.length > 0) return `there is no ${missing.join(", no ")}`;
  const attempt = Bun.spawnSync(
    [
      "unshare",
      "--mount",
      "--net",
      "--pid",
      "--fork",
      "--",
      "sh",
      "-ec",
      "mount -t tmpfs tmpfs /run; ip link add type veth; ip link add type bridge",
    ],
    { stdin: "ignore", stdout: "ignore", stderr: "pipe" },
  );
  return attempt.success ? null : `no network can be made in namespaces: ${attempt.stderr.toString().trim()}`;
}
