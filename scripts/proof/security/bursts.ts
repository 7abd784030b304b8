// Request bursts by one client: a thousand at once on two connections, or the maximum number of long ones. Other
// clients at the same address are still served promptly.

import { connect } from "node:net";
import { generateApiKey } from "../../../src/access/api-key.ts";
import { LONG_READS_OF_CALLER_MAX } from "../../../src/db/reading/long-reads.ts";
import { seededRandom } from "../../../test/support/injected/seeded-random.ts";
import { HANG_MS } from "../../../test/support/measure/limits.ts";
import type { Finding, ProofContext } from "../part.ts";
import type { Header } from "./raw-client.ts";
import { quantile } from "./samples.ts";
import {
  bearer,
  dataOf,
  MEMBER_EMAIL,
  OWNER_EMAIL,
  OWNER_PASSWORD,
  PERSON_PASSWORD,
  type People,
  populate,
  Testbed,
} from "./testbed.ts";

const CONNECTIONS = 2;
/** Requests sent at once on each connection, without waiting for responses. */
const BURST_SIZE = 1_000;
/** Number of sequential reads of another user. */
const READS = 40;
const READ_EVERY_MS = 25;
/** Limit of the 90th percentile of their duration: a few admission rounds of the flood. */
const READ_P90_MS = 1_000;
const PATH = "/api/v1/hosts?limit=5";

const AMBIGUOUS = "ambiguous";
const NAMESAKES = 50;
const MACS = 10;
const SWITCHES = 20;
const PORTS = 10;
const DIFFS = 5;
/** Allowed delay of a diff: more than one round of the flooding client, plus the noise of a shared machine. */
const DIFF_MAX_MS = 500;

export async function proveBursts(context: ProofContext): Promise<Finding[]> {
  const testbed = new Testbed(context, "bursts");
  try {
    const people = await populate(testbed);
    const random = seededRandom(context.seed);
    const { networkId, byKey } = people;
    for (let n = 0; n < 10; n += 1) dataOf(await byKey.post("hosts", { name: `host ${n}`, network_id: networkId }));
    const email = "viewer@acme.example";
    dataOf(await byKey.post("users", { email, password: PERSON_PASSWORD, role: "Viewer", network_ids: [networkId] }));
    const viewer = await testbed.cookieOf(email, PERSON_PASSWORD);
    const owner = await testbed.cookieOf(OWNER_EMAIL, OWNER_PASSWORD);
    const floods: Array<[string, () => Header | null]> = [
      ["a signed-in Viewer", () => viewer],
      ["a client without credentials", () => null],
      ["a client with made-up API keys", () => bearer(generateApiKey(random))],
    ];
    const findings: Finding[] = [];
    for (const [description, header] of floods) {
      // During the first flood, the reader's credentials are not yet known; later, they were recently found valid.
      const reader = description.startsWith("a signed-in Viewer")
        ? await testbed.cookieOf(MEMBER_EMAIL, PERSON_PASSWORD)
        : owner;
      if (reader === owner) await testbed.send("GET", PATH, undefined, [reader]);
      findings.push(await readDuringFlood(testbed, description, header, reader));
    }
    findings.push(await diffsDuringTimelines(testbed, people, viewer));
    return findings;
  } finally {
    await testbed.close();
  }
}

/** Measures diffs of one user while another requests the maximum number of timelines of an ambiguous name. */
async function diffsDuringTimelines(testbed: Testbed, people: People, viewer: Header): Promise<Finding> {
  await createAmbiguousHosts(people);
  const diff = async () => {
    const started = performance.now();
    const response = await fetch(`${testbed.running.url}/api/v1/diff?from=-1h`, {
      headers: [[...people.byKey.header]],
      signal: AbortSignal.timeout(HANG_MS),
    });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`a diff returned ${response.status}`);
    return performance.now() - started;
  };
  const solo = [await diff(), await diff(), await diff()];
  const end = new AbortController();
  const timelines = Array.from({ length: LONG_READS_OF_CALLER_MAX }, async () => {
    const response = await fetch(`${testbed.running.url}/api/v1/locate/timeline?hostname=${AMBIGUOUS}`, {
      headers: [[...viewer]],
      signal: end.signal,
    });
    return response.status;
  });
  const statuses = await Promise.all(timelines);
  const concurrent: number[] = [];
  for (let n = 0; n < DIFFS; n += 1) concurrent.push(await diff().catch(() => Number.POSITIVE_INFINITY));
  end.abort();
  const longest = Math.max(...concurrent);
  return {
    claim: `next to ${LONG_READS_OF_CALLER_MAX} timelines of a name shared by ${NAMESAKES} hosts, requested at once by one user, another user's diff takes at most ${DIFF_MAX_MS} ms longer than four times its duration alone`,
    held: statuses.every((status) => status === 200) && longest <= 4 * Math.max(...solo) + DIFF_MAX_MS,
    figure: `alone ${solo.map((ms) => ms.toFixed(0)).join(", ")} ms; concurrent ${concurrent.map((ms) => (Number.isFinite(ms) ? ms.toFixed(0) : `more than ${HANG_MS}`)).join(", ")} ms`,
  };
}

/**
 * Creates hosts with the same name at several sites, each with several MAC addresses that every switch has learned on
 * one port or another.
 */
async function createAmbiguousHosts({ networkId, byKey }: People): Promise<void> {
  const hex = (n: number) => n.toString(16).padStart(2, "0");
  dataOf(await byKey.post("subnets", { network_id: networkId, cidr: "10.0.0.0/8" }));
  const hosts = Array.from({ length: NAMESAKES }, (_, site) => ({
    name: `host at ${site}`,
    hostname: `${AMBIGUOUS}.site${site}.example.net`,
    network_id: networkId,
    ip_addresses: Array.from({ length: MACS }, (_, n) => ({
      ip_address: `10.${site}.0.${n + 1}`,
      mac_address: `00:1b:21:00:${hex(site)}:${hex(n)}`,
    })),
  }));
  dataOf(await byKey.post("hosts/bulk", hosts));
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
  dataOf(await byKey.post("hosts/bulk", switches));
}

async function readDuringFlood(
  testbed: Testbed,
  description: string,
  header: () => Header | null,
  reader: Header,
): Promise<Finding> {
  const clients = Array.from({ length: CONNECTIONS }, () => new FloodClient(testbed.port, header));
  const times: number[] = [];
  const statuses: number[] = [];
  for (let n = 0; n < READS; n += 1) {
    const started = performance.now();
    const response = await fetch(`${testbed.running.url}${PATH}`, { headers: [[...reader]] });
    await response.arrayBuffer();
    times.push(performance.now() - started);
    statuses.push(response.status);
    await Bun.sleep(READ_EVERY_MS);
  }
  const sent = clients.reduce((sum, client) => sum + client.bursts, 0);
  const refused = clients.reduce((sum, client) => sum + client.refusals, 0);
  for (const client of clients) client.stop();
  return {
    claim: `next to ${description}, sending ${BURST_SIZE.toLocaleString("en")} requests at once on each of ${CONNECTIONS} connections repeatedly, another user at the same address is never refused, and nine of ten reads take at most ${READ_P90_MS} ms`,
    // Without these refusals there was no flood.
    held: statuses.every((status) => status === 200) && quantile(times, 0.9) <= READ_P90_MS && refused >= READS / 4,
    figure: `${statuses.filter((status) => status !== 200).length} of ${READS} refused, p90 ${quantile(times, 0.9).toFixed(0)} ms; ${sent} bursts of ${BURST_SIZE} sent, ${refused} of these connections refused`,
  };
}

/** Sends requests at once, and again on a new connection when they are served or the connection closes. */
class FloodClient {
  bursts = 0;
  /** Number of connections closed after a 429. */
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
    const requests = Array.from({ length: BURST_SIZE }, () => {
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
    // After a reset, `close` follows and starts the next burst.
    socket.on("error", () => {});
    socket.on("close", () => this.burst());
  }
}
