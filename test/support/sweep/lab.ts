// Sweep network in private namespaces: a link with hosts, and a router in front of silent, unreachable and live
// networks. Exists as long as its first process, and leaves nothing on the machine. Requires root.

import type { AddressSighting } from "../../../src/discovery/sightings.ts";
import type { SweepOptions, SweepStats } from "../../../src/discovery/sweep/sweep.ts";

/** Condition under which the network can't run, if it holds here: "without root on Linux". */
export const SWEEP_LAB_MISSING: string | null = missingReason();

/** The scanner's link. */
export const LAB = {
  self: "10.70.0.1",
  /** Drops echo requests, serves HTTP on port 80 and refuses all else. Also the router of all other networks. */
  host: "10.70.0.2",
  hostV6: "fd70::2",
  hostMac: "02:70:00:00:00:02",
  /** Responds to ARP only. */
  arpOnly: "10.70.0.9",
  /** Sixteen addresses without hosts, for which the router responds to ARP. */
  proxied: "10.70.0.128/28",
  /** A host in the scanner's neighbor table that has disappeared. */
  gone: "10.70.0.66",
  /** Network to which the router drops packets. */
  silent: "10.60.0.0/16",
  /** The router reports hosts as unreachable. */
  unreachable: "10.61.0.0/24",
  /** The router reports ports as unreachable, which kernels treat as refused. */
  portsUnreachable: "10.62.0.0/24",
  /** Hosts that respond with another token, from another address, and correctly. */
  forgedToken: "10.63.0.1",
  forgedSource: "10.63.0.2",
  genuine: "10.63.0.4",
  /** A host behind the router: it drops echo requests and serves port 80. */
  behind: "10.64.0.1",
} as const;

/** Sweep request to the process in the scanner's namespace. */
export interface SweepOrder {
  /** A shell command to run first, in the scanner's namespace. */
  readonly before?: string;
  readonly cidrs: readonly string[];
  readonly options: Omit<SweepOptions, "random" | "timers" | "signal">;
}

export interface SweepReport {
  /** Sorted by address. */
  readonly sightings: readonly AddressSighting[];
  readonly stats: SweepStats;
}

export interface SweepReports {
  readonly reports: readonly SweepReport[];
  /** Number of the process's open descriptors before and after all sweeps. */
  readonly descriptorsBefore: number;
  readonly descriptorsAfter: number;
}

export class SweepLab {
  private readonly namespaceProcess: Bun.Subprocess<"pipe", "pipe", "pipe">;
  private readonly lines: AsyncIterator<string>;

  private constructor(namespaceProcess: Bun.Subprocess<"pipe", "pipe", "pipe">) {
    this.namespaceProcess = namespaceProcess;
    this.lines = linesOf(namespaceProcess.stdout);
  }

  /** @param wrapCommand returns a command that runs the scanner's command */
  static async start(
    wrapCommand: (command: readonly string[]) => readonly string[] = (command) => command,
  ): Promise<SweepLab> {
    const namespaceProcess = Bun.spawn(
      ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--", "sh", "-c", script(wrapCommand)],
      { stdin: "pipe", stdout: "pipe", stderr: "pipe" },
    );
    const lab = new SweepLab(namespaceProcess);
    for (const expected of ["liar is up", "scanner is up"]) {
      const { value } = await lab.lines.next();
      if (value === expected) continue;
      await lab.stop();
      throw new Error(`the network for sweeps did not come up: ${await namespaceProcess.stderr.text()}`);
    }
    return lab;
  }

  /** Sweeps from the scanner's namespace, all requests concurrently; one call at a time. */
  async sweep(orders: readonly SweepOrder[]): Promise<SweepReports> {
    this.namespaceProcess.stdin.write(`${JSON.stringify(orders)}\n`);
    await this.namespaceProcess.stdin.flush();
    const { value } = await this.lines.next();
    if (typeof value !== "string") throw new Error(`the scanner exited: ${await this.namespaceProcess.stderr.text()}`);
    return JSON.parse(value) as SweepReports;
  }

  async stop(): Promise<void> {
    this.namespaceProcess.kill("SIGKILL");
    await this.namespaceProcess.exited;
  }
}

function script(wrapCommand: (command: readonly string[]) => readonly string[]): string {
  const bun = `"${process.execPath}" "${import.meta.dir}`;
  return [
    "set -e",
    "mount -t tmpfs tmpfs /run",
    "mkdir -p /run/netns",
    "ip netns add scanner",
    "ip netns add router",
    batch("scanner", [
      "link set lo up",
      `link add lan address 02:70:00:00:00:01 type veth peer name lan address ${LAB.hostMac} netns router`,
      "link set lan up",
      `address add ${LAB.self}/24 dev lan`,
      "address add fd70::1/112 dev lan nodad",
    ]),
    batch("router", [
      "link set lo up",
      "link set lan up",
      `address add ${LAB.host}/24 dev lan`,
      `address add ${LAB.hostV6}/112 dev lan nodad`,
      `address add ${LAB.behind}/32 dev lo`,
      "link add other type veth peer name far",
      "link set other up",
      "link set far up",
      `route add ${LAB.arpOnly}/32 dev other`,
      `route add ${LAB.proxied} dev other`,
      `neighbor add proxy ${LAB.arpOnly} dev lan`,
      `route add blackhole ${LAB.silent}`,
      `route add unreachable ${LAB.unreachable}`,
      `route add blackhole ${LAB.portsUnreachable}`,
      "route add blackhole 10.63.0.0/24",
    ]),
    "ip netns exec router sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward; echo 1 >/proc/sys/net/ipv4/icmp_echo_ignore_all; echo 1 >/proc/sys/net/ipv4/conf/lan/proxy_arp; echo 0 >/proc/sys/net/ipv4/neigh/lan/proxy_delay; echo 0 >/proc/sys/net/ipv4/icmp_ratelimit'",
    batch("scanner", [
      `route add 10.0.0.0/8 via ${LAB.host}`,
      `neighbor add ${LAB.gone} lladdr 02:70:00:00:00:66 dev lan nud stale`,
    ]),
    // The neighbor state DELAY lasts one second instead of five.
    "ip netns exec scanner sh -c 'echo 1 >/proc/sys/net/ipv4/neigh/lan/delay_first_probe_time'",
    // The first line is the liar's: the scanner starts once it is ready.
    `mkfifo /run/ready; ip netns exec router ${bun}/spoofing-router.ts" >/run/ready </dev/null & read line </run/ready; echo "$line"`,
    `exec ip netns exec scanner ${wrapCommand([process.execPath, `${import.meta.dir}/runner.ts`])
      .map((word) => `"${word}"`)
      .join(" ")}`,
  ].join("\n");
}

function batch(namespace: string, lines: readonly string[]): string {
  return `ip -n ${namespace} -batch - <<'END'\n${lines.join("\n")}\nEND`;
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
      yield text.slice(0, end);
      text = text.slice(end + 1);
    }
  }
}

function missingReason(): string | null {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "without root on Linux";
  if (Bun.which("ip") === null || Bun.which("unshare") === null) return "without ip and unshare";
  const attempt = Bun.spawnSync(
    [
      "unshare",
      "--mount",
      "--net",
      "--pid",
      "--fork",
      "--",
      "sh",
      "-c",
      "mount -t tmpfs tmpfs /run && mkdir /run/netns && ip netns add tried && ip -n tried link add one type veth peer name two",
    ],
    { stdin: "ignore", stdout: "ignore", stderr: "ignore" },
  );
  return attempt.exitCode === 0 ? null : "where namespaces are not available";
}
