// Response compression benchmark, savings and cost on a 100 Mbit/s link: lists and exports in each coding, through a
// rate-limiting relay and directly, on the compiled executable. Usage: scripts/bench --compression [--hosts 1000]
// [--rounds 5] [--megabits 100] [--directory DIR] [--executable FILE]

import { join } from "node:path";
import { CODINGS } from "../../src/schemas/entity-tags.ts";
import { median } from "../quantiles.ts";
import { EXECUTABLE, startExecutable } from "./executable.ts";
import { folder, printLine, printRow, settings } from "./program.ts";
import { SlowLink } from "./slow-link.ts";
import { startReader } from "./start-reader.ts";
import { campusStore } from "./store.ts";

const { hosts, rounds, megabits, directory, executable } = settings({
  hosts: 1_000,
  rounds: 5,
  megabits: 100,
  directory: "",
  executable: EXECUTABLE,
});
/** Codings of the responses; the first is the baseline. */
const MEASURED_CODINGS = ["identity", ...CODINGS] as const;
type MeasuredCoding = (typeof MEASURED_CODINGS)[number];
/** Requests per timing of a small response, with and without the relay: one alone is too short to time. */
const LISTS_RELAYED = 10;
const LISTS_DIRECT = 50;
const NAME_WIDTH = 44;

interface Fetched {
  /** Size on the wire. */
  readonly bytes: number;
  readonly seconds: number;
  /** CPU time of the appliance. */
  readonly cpuSeconds: number;
}

printLine(`Building: ${hosts} hosts × 50 interface entries`);
const store = await campusStore(join(folder(directory), "compression"), { hosts, entriesPerHost: 50 });
const running = await startExecutable(executable, store.directory);
const link = await SlowLink.open({ to: running.port, bytesPerSecond: (megabits * 1e6) / 8 });
const requests: Array<[name: string, path: string, isLong: boolean]> = [
  ["1,000 interface entries", "/if-entries?limit=1000", false],
  ["1,000 hosts without their children", "/hosts?limit=1000&include_children=false", false],
  [`all ${hosts * 50} interface entries`, "/if-entries?limit=0", true],
  [`all ${hosts * 50} interface entries as CSV`, "/if-entries/export/csv", true],
];
printLine(`\nMedians of ${rounds} rounds, with every coding in each; shares are relative to the plain response`);
printRow("", NAME_WIDTH, ["MB", "share", `s at ${megabits}`, "share", "s here", "share", "CPU share", "read p99"], 11);
for (const [name, path, isLong] of requests) await measure(name, path, isLong);
link.close();
await running.stop();

async function measure(name: string, path: string, isLong: boolean): Promise<void> {
  await assertSameContent(path);
  const times = isLong ? 1 : LISTS_RELAYED;
  const slow = new Map<MeasuredCoding, Fetched[]>(MEASURED_CODINGS.map((coding) => [coding, []]));
  const fast = new Map<MeasuredCoding, Fetched[]>(MEASURED_CODINGS.map((coding) => [coding, []]));
  const waits = new Map<MeasuredCoding, number[]>(MEASURED_CODINGS.map((coding) => [coding, []]));
  // Interleaved, so that other load on the machine affects all codings equally; round 0 is a warm-up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const coding of MEASURED_CODINGS) {
      const relayed = await fetchTimed(link.port, path, coding, times);
      const paths = [`/api/v1/networks/${store.networkIds.campus}`];
      const reader = await startReader({ port: running.port, paths, key: store.key, isPast: false });
      await fetchTimed(link.port, path, coding, times);
      const { p99Ms } = await reader.stop();
      const direct = await fetchTimed(running.port, path, coding, isLong ? 1 : LISTS_DIRECT);
      if (round === 0) continue;
      slow.get(coding)?.push(relayed);
      fast.get(coding)?.push(direct);
      waits.get(coding)?.push(p99Ms);
    }
  }
  const medianOf = (all: Map<MeasuredCoding, Fetched[]>, coding: MeasuredCoding, field: keyof Fetched) =>
    median((all.get(coding) as Fetched[]).map((run) => run[field]));
  for (const coding of MEASURED_CODINGS) {
    const share = (all: Map<MeasuredCoding, Fetched[]>, field: keyof Fetched) =>
      (medianOf(all, coding, field) / medianOf(all, "identity", field)).toFixed(2);
    const cells = [
      (medianOf(slow, coding, "bytes") / 1e6).toFixed(2),
      share(slow, "bytes"),
      medianOf(slow, coding, "seconds").toFixed(3),
      share(slow, "seconds"),
      medianOf(fast, coding, "seconds").toFixed(3),
      share(fast, "seconds"),
      share(fast, "cpuSeconds"),
      median(waits.get(coding) as number[]).toFixed(1),
    ];
    printRow(`${name}, ${coding === "identity" ? "plain" : coding}`, NAME_WIDTH, cells, 11);
  }
}

/** Asserts that a response has the same content in every coding. */
async function assertSameContent(path: string): Promise<void> {
  const texts = await Promise.all(
    MEASURED_CODINGS.map(async (coding) => {
      const response = await request(running.port, path, coding, true);
      const sent = response.headers.get("content-encoding") ?? "identity";
      if (sent !== coding) throw new Error(`${path} was requested as ${coding} but sent as ${sent}`);
      return response.text();
    }),
  );
  if (new Set(texts).size !== 1) throw new Error(`${path} differs between codings`);
}

/** Fetches a path several times in sequence. @returns average size and times */
async function fetchTimed(port: number, path: string, coding: MeasuredCoding, times: number): Promise<Fetched> {
  let bytes = 0;
  const cpuBefore = running.cpuSeconds();
  const started = performance.now();
  for (let run = 0; run < times; run += 1) {
    const { body } = await request(port, path, coding, false);
    for await (const chunk of body as ReadableStream<Uint8Array>) bytes += chunk.length;
  }
  const seconds = (performance.now() - started) / 1_000;
  const cpuSeconds = running.cpuSeconds() - cpuBefore;
  return { bytes: bytes / times, seconds: seconds / times, cpuSeconds: cpuSeconds / times };
}

async function request(port: number, path: string, coding: MeasuredCoding, decompress: boolean): Promise<Response> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
    headers: { authorization: `Bearer ${store.key}`, "accept-encoding": coding },
    decompress,
  });
  if (!response.ok) throw new Error(`${path} returned ${response.status}`);
  return response;
}
