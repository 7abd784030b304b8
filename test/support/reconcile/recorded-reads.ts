// Reads of a recorded device (.snmprec: `OID|type|value`), derived from the file by a plan, as from a faultless agent.

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ColumnRead, ReadStep, Reads, SnmpValue, StepRead } from "../../../src/discovery/mib/reads.ts";

/** Real devices, not in the repository: the initial set, and the devices on which it lost rows. */
const RECORDINGS_FOLDERS = ["snmp-recordings", "snmp-recordings-lost"].map((name) =>
  join(import.meta.dir, "../../../../shared", name),
);

/**
 * Subtrees read from the second set: it has a million values of vendor MIBs, routing tables and counters, which the plan
 * does not read.
 */
const READ_SUBTREES = [
  String.raw`1\.3\.6\.1\.2\.1\.(1|2\.2\.1\.[1-8]|4\.(20|22|32|34|35)|17|31\.1\.(1\.1\.(1|15|18)|2\.1\.3)|47\.1\.1|55\.1\.(8|12))\.`,
  String.raw`1\.3\.6\.1\.4\.1\.9\.9\.(23|46|68)\.`,
  String.raw`1\.(0\.8802|2\.840\.10006|3\.111)\.`,
];

/** Recordings of a peer's test suite with its opinion of each (expected.tsv), not in the repository. */
const SUITE_FOLDER = join(import.meta.dir, "../../../../shared/snmp-recordings-suite");

/** Unpacked recordings. The large ones take seconds, and several test processes read them. */
const UNPACKED_FOLDER = join(import.meta.dir, "../../../dist/recordings");

const FIXTURES_FOLDER = join(import.meta.dir, "../../fixtures");
const FIXTURE_SUFFIX = ".snmprec";

interface RecordedValue {
  readonly oid: string;
  readonly value: SnmpValue;
}

/** Names of the recordings, without `.snmprec.bz2`, ascending; empty if the directory is missing. */
export function recordingNames(): string[] {
  return RECORDINGS_FOLDERS.flatMap(filesIn)
    .filter((name) => name.endsWith(SUFFIX))
    .map((name) => name.slice(0, -SUFFIX.length))
    .sort();
}

function filesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** Names of the recordings of the lab's agents (record-lab.ts), without `.snmprec`, ascending. */
export function fixtureNames(): string[] {
  return readdirSync(FIXTURES_FOLDER)
    .filter((name) => name.endsWith(FIXTURE_SUFFIX))
    .map((name) => name.slice(0, -FIXTURE_SUFFIX.length))
    .sort();
}

/** Varbinds of a recording, in OID order; the first value of a repeated OID. */
export function readRecording(name: string): RecordedValue[] {
  return parseRecording(recordingText(name));
}

/** Rows of the suite's table: the peer's type of each recording; empty without the directory. */
export function suiteRecordings(): Array<{ readonly name: string; readonly type: string }> {
  const file = join(SUITE_FOLDER, "expected.tsv");
  if (!existsSync(file)) return [];
  const [, ...lines] = readFileSync(file, "utf8").trimEnd().split("\n");
  return lines.map((line) => {
    const [name = "", , type = ""] = line.split("\t");
    return { name, type };
  });
}

/** Text of a recording, of the suite's too, or of a fixture, one character per byte. */
export function recordingText(name: string): string {
  let text = texts.get(name);
  if (text === undefined) texts.set(name, (text = unpack(name)));
  return text;
}

const texts = new Map<string, string>();

function unpack(name: string): string {
  const fixture = join(FIXTURES_FOLDER, name + FIXTURE_SUFFIX);
  if (existsSync(fixture)) return readFileSync(fixture, "latin1");
  const folders = [...RECORDINGS_FOLDERS, SUITE_FOLDER];
  const file = folders.map((folder) => join(folder, name + SUFFIX)).find(existsSync) ?? name;
  const isLarge = file.includes("-lost/") || file.startsWith(SUITE_FOLDER);
  const filterCommand = isLarge ? ["grep", "-aE", `^(${READ_SUBTREES.join("|")})`] : ["cat"];
  const key = new Bun.CryptoHasher("sha1").update(filterCommand.join(" ")).update(readFileSync(file)).digest("hex");
  const unpacked = join(UNPACKED_FOLDER, key);
  if (!existsSync(unpacked)) {
    // The exit status is the filter's; for grep, 1 means that the recording has nothing that is read.
    const pipeline = '{ bunzip2 -kc "$0" || echo incomplete >&2; } | "$@"';
    const { stdout, stderr, exitCode } = Bun.spawnSync(["sh", "-c", pipeline, file, ...filterCommand]);
    if (exitCode > 1 || stderr.length > 0) throw new Error(`bunzip2 cannot read ${name}: ${stderr}`);
    mkdirSync(UNPACKED_FOLDER, { recursive: true });
    // Other processes may write the same file.
    writeFileSync(`${unpacked}.${process.pid}`, stdout);
    renameSync(`${unpacked}.${process.pid}`, unpacked);
  }
  // Some of the suite write OIDs with a leading dot.
  return readFileSync(unpacked, "latin1").replaceAll("|6|.", "|6|");
}

/** @param text text of the file, one character per byte */
export function parseRecording(text: string): RecordedValue[] {
  const byOid = new Map<string, SnmpValue>();
  for (const line of text.split("\n")) {
    const [, oid, type, raw] = /^([\d.]+)\|(\d+x?)\|([^\r]*)\r?$/.exec(line) ?? [];
    if (oid !== undefined && type !== undefined && raw !== undefined && !byOid.has(oid))
      byOid.set(oid, valueFrom(type, raw));
  }
  return Array.from(byOid, ([oid, value]) => ({ oid, value, key: oid.split(".").map(Number) }))
    .sort((a, b) => compareNumbers(a.key, b.key))
    .map(({ oid, value }) => ({ oid, value }));
}

/** Reads a recording by a plan: every column completely, VLAN contexts empty. */
export function readsOf(recording: readonly RecordedValue[], plan: readonly ReadStep[]): Reads {
  const scalars = new Map(recording.map(({ oid, value }) => [oid, value]));
  const reads = new Map<string, StepRead>();
  for (const step of plan) {
    if (step.isNeeded?.(reads) === false) continue;
    const columns = new Map<string, ColumnRead>();
    for (const [name, oid] of Object.entries(step.columns ?? {}))
      columns.set(name, {
        isComplete: true,
        problem: null,
        values: step.vlanContexts === undefined ? columnOf(recording, oid) : new Map(),
      });
    const values = Object.entries(step.scalars ?? {}).flatMap(([name, oid]): [string, SnmpValue][] => {
      const value = scalars.get(oid);
      return value === undefined ? [] : [[name, value]];
    });
    reads.set(step.name, { scalars: new Map(values), scalarsProblem: null, columns });
  }
  return reads;
}

const SUFFIX = ".snmprec.bz2";

function valueFrom(type: string, raw: string): SnmpValue {
  const bytes = type.endsWith("x") ? Buffer.from(raw, "hex") : Buffer.from(raw, "latin1");
  switch (type.replace("x", "")) {
    case "2":
    case "65":
    case "66":
    case "67":
    case "70":
      return Number(raw);
    case "6":
      return raw;
    case "64":
      return type.endsWith("x") ? bytes.join(".") : raw;
    default:
      return new Uint8Array(bytes);
  }
}

/** Finds the column's first row by binary search, then reads row by row. */
function columnOf(recording: readonly RecordedValue[], oid: string): Map<string, SnmpValue> {
  const column = oid.split(".").map(Number);
  let from = 0;
  let to = recording.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (compareNumbers((recording[middle] as RecordedValue).oid.split(".").map(Number), column) < 0) from = middle + 1;
    else to = middle;
  }
  const values = new Map<string, SnmpValue>();
  for (let index = from; index < recording.length; index++) {
    const row = recording[index] as RecordedValue;
    if (row.oid !== oid && !row.oid.startsWith(`${oid}.`)) break;
    if (row.oid !== oid) values.set(row.oid.slice(oid.length + 1), row.value);
  }
  return values;
}

function compareNumbers(a: readonly number[], b: readonly number[]): number {
  const shorter = Math.min(a.length, b.length);
  for (let index = 0; index < shorter; index++) {
    const difference = (a[index] as number) - (b[index] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
