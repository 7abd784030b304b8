// One caller with bursts of a thousand requests on two connections, or with the maximum number of long requests:
// service and latency of other callers at the same address.

import { connect } from "node:net";
import { generateApiKey } from "../../../src/access/api-key.ts";
import { systemTimers } from "../../../src/base/timers.ts";
import { LONG_READS_OF_CALLER_MAX } from "../../../src/db/reading/long-reads.ts";
import { seededRandom } from "../../../test/support/injected/seeded-random.ts";
import { HANG_MS } from "../../../test/support/measure/limits.ts";
import type { Finding, Proving } from "../part.ts";
import { quantile } from "./samples.ts";
import { dataOf, MEMBER_EMAIL, OWNER_EMAIL, OWNER_PASSWORD, PERSON_PASSWORD, populate, Stage } from "./stage.ts";

const CONNECTIONS = 2;
/** Sent at once on each connection, without waiting for answers. */
const AT_ONCE = 1_000;
/** Of another user, in sequence. */
const READS = 40;
const READ_EVERY_MS = 25;
/** 90th percentile of their duration: a few admission rounds of the crowd. */
const READ_P90_MS = 1_000;
const PATH = "/api/v1/hosts?limit=5";

const AMBIGUOUS = "ambiguous";
const NAMESAKES = 50;
const MACS = 10;
const SWITCHES = 20;
const PORTS = 10;
const DIFFS = 5;
/** More than a turn of the crowding caller, plus the noise of a shared machine. */
const DIFF_MAX_MS = 500;

type Header = readonly [string, string];

export async function proveCrowding(proving: Proving): Promise<Finding[]> {
  const stage = new Stage(proving, "crowding");
  try {
    const people = await populate(stage);
    const random = seededRandom(proving.seed);
    for (let n = 0; n < 10; n += 1)
      dataOf(
        await stage.send("POST", "/api/v1/hosts", { name: `host ${n}`, network_id: people.networkId }, [people.key]),
      );
    const email = "viewer@acme.example";
    dataOf(
      await stage.send(
        "POST",
        "/api/v1/users",
        { email, password: PERSON_PASSWORD, role: "Viewer", network_ids: [people.networkId] },
        [people.key],
      ),
    );
    const viewer = await stage.cookieOf(email, PERSON_PASSWORD);
    const owner = await stage.cookieOf(OWNER_EMAIL, OWNER_PASSWORD);
    const crowds: Array<[string, () => Header | null]> = [
      ["a Viewer who is signed in", () => viewer],
      ["somebody without credentials", () => null],
      ["somebody with made-up API keys", () => ["Authorization", `Bearer ${generateApiKey(random)}`]],
    ];
    const findings: Finding[] = [];
    for (const [who, header] of crowds) {
      // Before the first crowd the reader's credentials are unknown; later they were recently valid.
      const reader = who.startsWith("a Viewer") ? await stage.cookieOf(MEMBER_EMAIL, PERSON_PASSWORD) : owner;
      if (reader === owner) await stage.send("GET", PATH, undefined, [reader]);
      findings.push(await crowded(stage, who, header, reader));
    }
    findings.push(await besideQuestions(stage, people.networkId, people.key, viewer));
    return findings;
  } finally {
    await stage.close();
  }
}

/** The maximum number of concurrent timelines of an ambiguous name by one user, with diffs of another. */
async function besideQuestions(stage: Stage, networkId: string, key: Header, viewer: Header): Promise<Finding> {
  await ambiguous(stage, networkId, key);
  const diff = async () => {
    const began = performance.now();
    const answer = await fetch(`${stage.running.url}/api/v1/diff?from=-1h`, {
      headers: [[...key]],
      signal: AbortSignal.timeout(HANG_MS),
    });
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`a diff was answered ${answer.status}`);
    return performance.now() - began;
  };
  const alone = [await diff(), await diff(), await diff()];
  const end = new AbortController();
  const asked = Array.from({ length: LONG_READS_OF_CALLER_MAX }, async () => {
    const answer = await fetch(`${stage.running.url}/api/v1/locate/timeline?hostname=${AMBIGUOUS}`, {
      headers: [[...viewer]],
      signal: end.signal,
    });
    return answer.status;
  });
  const statuses = await Promise.all(asked);
  const beside: number[] = [];
  for (let n = 0; n < DIFFS; n += 1) beside.push(await diff().catch(() => Number.POSITIVE_INFINITY));
  end.abort();
  const longest = Math.max(...beside);
  return {
    claim: `next to ${LONG_READS_OF_CALLER_MAX} timelines of a name shared by ${NAMESAKES} hosts, requested at once by one user, another user's diff takes at most ${DIFF_MAX_MS} ms longer than four times its duration alone`,
    held: statuses.every((status) => status === 200) && longest <= 4 * Math.max(...alone) + DIFF_MAX_MS,
    figure: `alone ${alone.map((each) => each.toFixed(0)).join(", ")} ms; beside ${beside.map((each) => (Number.isFinite(each) ? each.toFixed(0) : `more than ${HANG_MS}`)).join(", ")} ms`,
  };
}

/**
 * Hosts with the same name at several sites, each with several MAC addresses learned by every switch, on one port or
 * another.
 */
async function ambiguous(stage: Stage, networkId: string, key: Header): Promise<void> {
  const hex = (n: number) => n.toString(16).padStart(2, "0");
  dataOf(await stage.send("POST", "/api/v1/subnets", { network_id: networkId, cidr: "10.0.0.0/8" }, [key]));
  const hosts = Array.from({ length: NAMESAKES }, (_, site) => ({
    name: `host at ${site}`,
    hostname: `${AMBIGUOUS}.site${site}.example.net`,
    network_id: networkId,
    ip_addresses: Array.from({ length: MACS }, (_, n) => ({
      ip_address: `10.${site}.0.${n + 1}`,
      mac_address: `00:1b:21:00:${hex(site)}:${hex(n)}`,
    })),
  }));
  dataOf(await stage.send("POST", "/api/v1/hosts/bulk", hosts, [key]));
  const macs = hosts.flatMap(({ ip_addresses: addresses }) => addresses.map(({ mac_address: mac }) => mac));
  const switches = Array.from({ length: SWITCHES }, (_, device) => ({
    name: `switch ${device}`,
    network_id: networkId,
    interfaces: Array.from({ length: PORTS }, (_, port) => ({
      if_index: port + 1,
      if_descr: `port ${port}`,
      oper_status: "Up",
      fdb_macs: macs.filter((_mac, n) => (n + device) % PORTS === port),
    })),
  }));
  dataOf(await stage.send("POST", "/api/v1/hosts/bulk", switches, [key]));
}

async function crowded(stage: Stage, who: string, header: () => Header | null, reader: Header): Promise<Finding> {
  const crowd = Array.from({ length: CONNECTIONS }, () => new Crowd(stage.port, header));
  const times: number[] = [];
  const statuses: number[] = [];
  for (let n = 0; n < READS; n += 1) {
    const began = performance.now();
    const answer = await fetch(`${stage.running.url}${PATH}`, { headers: [[...reader]] });
    await answer.arrayBuffer();
    times.push(performance.now() - began);
    statuses.push(answer.status);
    await pause(READ_EVERY_MS);
  }
  const sent = crowd.reduce((sum, each) => sum + each.bursts, 0);
  const refused = crowd.reduce((sum, each) => sum + each.refusals, 0);
  for (const each of crowd) each.stop();
  return {
    claim: `next to ${who}, sending ${AT_ONCE.toLocaleString("en")} requests at once on each of ${CONNECTIONS} connections repeatedly, another user at the same address is refused nothing, and nine of ten reads take at most ${READ_P90_MS} ms`,
    // Otherwise there was no crowd.
    held: statuses.every((status) => status === 200) && quantile(times, 0.9) <= READ_P90_MS && refused >= READS / 4,
    figure: `${statuses.filter((status) => status !== 200).length} of ${READS} refused, p90 ${quantile(times, 0.9).toFixed(0)} ms; ${sent} times ${AT_ONCE} sent, ${refused} of these connections refused`,
  };
}

/** Sends its requests at once, and again on a new connection when the old one closes or all are answered. */
class Crowd {
  bursts = 0;
  /** Connections closed after a 429. */
  refusals = 0;
  private socket: ReturnType<typeof connect> | null = null;
  private isStopped = false;
  private readonly port: number;
  private readonly header: () => Header | null;

  constructor(port: number, header: () => Header | null) {
    this.port = port;
    this.header = header;
    this.burst();
  }

  stop(): void {
    this.isStopped = true;
    this.socket?.destroy();
  }

  private burst(): void {
    if (this.isStopped) return;
    this.bursts += 1;
    const socket = connect({ host: "127.0.0.1", port: this.port });
    this.socket = socket;
    let isRefused = false;
    const requests = Array.from({ length: AT_ONCE }, () => {
      const header = this.header();
      return `GET ${PATH} HTTP/1.1\r\nHost: localhost\r\n${header === null ? "" : `${header[0]}: ${header[1]}\r\n`}\r\n`;
    });
    socket.on("connect", () =>
      socket.write(`${requests.join("")}GET ${PATH} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`),
    );
    socket.on("data", (piece: Buffer) => {
      if (!isRefused && piece.includes("HTTP/1.1 429 ")) {
        isRefused = true;
        this.refusals += 1;
      }
    });
    // A reset is repeated like a close.
    socket.on("error", () => {});
    socket.on("close", () => this.burst());
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => systemTimers.after(ms, resolve));
}
