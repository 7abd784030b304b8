// Savings of compressed answers on a link of 100 Mbit/s, and their cost: lists and exports in each coding, through a
// rate-limiting relay and directly, on the compiled executable. Usage: scripts/bench --compression [--hosts 1000]
// [--turns 5] [--megabits 100] [--directory DIR] [--executable FILE]

import { join } from "node:path";
import { CODINGS, type Coding } from "../../src/schemas/entity-tags.ts";
import { median } from "../quantiles.ts";
import { EXECUTABLE, startExecutable } from "./executable.ts";
import { folder, say, sayRow, settings } from "./program.ts";
import { SlowLink } from "./slow-link.ts";
import { startReader } from "./start-reader.ts";
import { buildStore } from "./store.ts";

const { hosts, turns, megabits, directory, executable } = settings({
  hosts: 1_000,
  turns: 5,
  megabits: 100,
  directory: "",
  executable: EXECUTABLE,
});
/** Codings of the answers; the first is the baseline. */
const FORMS: readonly (Coding | "identity")[] = ["identity", ...CODINGS];
type Form = (typeof FORMS)[number];
/**
 * A single small answer is too short to time, in particular without the relay: the kernel counts in hundredths of a
 * second.
 */
const LISTS_AT_ONCE = 10;
const LISTS_STRAIGHT = 50;
const NAME_WIDTH = 44;

interface Fetched {
  /** On the wire. */
  readonly bytes: number;
  readonly seconds: number;
  /** Processor time of the appliance. */
  readonly cpuSeconds: number;
}

say(`Building: ${hosts} hosts × 50 interface entries`);
const store = await buildStore(
  join(folder(directory), "compression"),
  [{ network: "campus", hosts, entriesPerHost: 50, versions: 1 }],
  say,
);
const running = await startExecutable(executable, store.directory);
const link = await SlowLink.open({ to: running.port, bytesPerSecond: (megabits * 1e6) / 8 });
const questions: Array<[name: string, path: string, isLong: boolean]> = [
  ["1,000 interface entries", "/if-entries?limit=1000", false],
  ["1,000 hosts without their children", "/hosts?limit=1000&include_children=false", false],
  [`all ${hosts * 50} interface entries`, "/if-entries?limit=0", true],
  [`all ${hosts * 50} interface entries as CSV`, "/if-entries/export/csv", true],
];
say(`\nMedians of ${turns} turns, each form in each turn; the shares are of the plain answer`);
sayRow("", NAME_WIDTH, ["MB", "share", `s at ${megabits}`, "share", "s here", "share", "CPU share", "read p99"], 11);
for (const [name, path, isLong] of questions) await measure(name, path, isLong);
link.close();
await running.stop();

async function measure(name: string, path: string, isLong: boolean): Promise<void> {
  await requireSame(path);
  const times = isLong ? 1 : LISTS_AT_ONCE;
  const slow = new Map<Form, Fetched[]>(FORMS.map((form) => [form, []]));
  const fast = new Map<Form, Fetched[]>(FORMS.map((form) => [form, []]));
  const waits = new Map<Form, number[]>(FORMS.map((form) => [form, []]));
  // Turn by turn, the first one as warm-up: other load of the machine affects all alike.
  for (let turn = 0; turn <= turns; turn += 1) {
    for (const form of FORMS) {
      const slowly = await fetched(link.port, path, form, times);
      const reader = await startReader({
        port: running.port,
        paths: [`/api/v1/networks/${store.networkIds.campus}`],
        key: store.key,
        isPast: false,
      });
      await fetched(link.port, path, form, times);
      const { p99Ms } = await reader.stop();
      const straight = await fetched(running.port, path, form, isLong ? 1 : LISTS_STRAIGHT);
      if (turn === 0) continue;
      slow.get(form)?.push(slowly);
      fast.get(form)?.push(straight);
      waits.get(form)?.push(p99Ms);
    }
  }
  const of = (all: Map<Form, Fetched[]>, form: Form, field: keyof Fetched) =>
    median((all.get(form) as Fetched[]).map((each) => each[field]));
  for (const form of FORMS) {
    const share = (all: Map<Form, Fetched[]>, field: keyof Fetched) =>
      (of(all, form, field) / of(all, "identity", field)).toFixed(2);
    sayRow(
      `${name}, ${form === "identity" ? "plain" : form}`,
      NAME_WIDTH,
      [
        (of(slow, form, "bytes") / 1e6).toFixed(2),
        share(slow, "bytes"),
        of(slow, form, "seconds").toFixed(3),
        share(slow, "seconds"),
        of(fast, form, "seconds").toFixed(3),
        share(fast, "seconds"),
        share(fast, "cpuSeconds"),
        median(waits.get(form) as number[]).toFixed(1),
      ],
      11,
    );
  }
}

/** Requires equal content in every coding of an answer. */
async function requireSame(path: string): Promise<void> {
  const texts = await Promise.all(
    FORMS.map(async (form) => {
      const answer = await ask(running.port, path, form, true);
      const coding = answer.headers.get("content-encoding") ?? "identity";
      if (coding !== form) throw new Error(`${path} was requested as ${form} and came as ${coding}`);
      return answer.text();
    }),
  );
  if (new Set(texts).size !== 1) throw new Error(`${path} differs in another coding`);
}

/** Sequential repetitions: bytes and times of one. */
async function fetched(port: number, path: string, form: Form, times: number): Promise<Fetched> {
  let bytes = 0;
  const cpuBefore = running.cpuSeconds();
  const began = performance.now();
  for (let each = 0; each < times; each += 1) {
    const { body } = await ask(port, path, form, false);
    for await (const chunk of body as ReadableStream<Uint8Array>) bytes += chunk.length;
  }
  const seconds = (performance.now() - began) / 1_000;
  const cpuSeconds = running.cpuSeconds() - cpuBefore;
  return { bytes: bytes / times, seconds: seconds / times, cpuSeconds: cpuSeconds / times };
}

async function ask(port: number, path: string, form: Form, decompress: boolean): Promise<Response> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
    headers: { authorization: `Bearer ${store.key}`, "accept-encoding": form },
    decompress,
  });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
  return answer;
}
