// Corrupted data, which is detected, reported in one sentence without an exception's text, and restored from a backup.

import { Database } from "bun:sqlite";
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { forEachConcurrently } from "../../../src/importers/concurrency.ts";
import type { ApiResponse, Client } from "../../../test/support/appliance/client.ts";
import { Running } from "../../../test/support/executable/executable.ts";
import type { Proof, ProofContext } from "../part.ts";
import { ApplianceUnderTest } from "./appliance.ts";
import { finding, isOneSentence, problemSummary, proofOf } from "./full.ts";
import { DatabasePages } from "./pages.ts";

const SUBNETS = 300;
const CONCURRENCY = 2;
/** Remedies that the log and error messages name. */
const REMEDY = /netledger restore BACKUP --replace|netledger verify --repair-derived/;
/** Message that suffices for a file without netledger data. */
const NO_DATABASE = /is not an SQLite database\./;
/** Requests with streamed responses: one that reaches the damage midway can only close the connection. */
const IS_STREAM = /limit=0|\/history/;
/** Text that must never reach a client. */
const EXCEPTION_TEXT = /SQLite|malformed|disk image|\.ts:\d|at <anonymous>/;

interface Damage {
  readonly name: string;
  /** Corrupts the bytes of the database; may truncate them. */
  readonly corrupt: (pages: DatabasePages) => Buffer;
  /** Whether SQLite cannot detect the damage: a changed letter in a text is still valid. */
  readonly isSilent?: true;
  /** Whether the short form of the proof includes the damage. */
  readonly isShort?: true;
}

interface Baseline {
  readonly folder: string;
  readonly backup: string;
  readonly key: string;
  /** Responses by requested path. */
  readonly responses: ReadonlyMap<string, string>;
}

const DAMAGES: readonly Damage[] = [
  { name: "a leaf of a live table", isShort: true, corrupt: overwrite("subnets") },
  { name: "a letter in a live record", isSilent: true, corrupt: changeLetter("subnets") },
  { name: "a leaf in the middle of the ledger", isShort: true, corrupt: overwrite("history_versions") },
  { name: "a letter in a version of the ledger", isSilent: true, corrupt: changeLetter("history_versions") },
  {
    name: "a leaf of the transactions, zeros",
    corrupt: (pages) => fill(pages, pages.leaf("history_transactions"), 0, 0, pages.pageBytes),
  },
  { name: "a leaf of an index", corrupt: overwrite("sqlite_autoindex_history_records_1") },
  {
    name: "an entry of an index",
    corrupt: (pages) =>
      fill(pages, pages.leaf("sqlite_autoindex_subnets_1"), 0x41, pages.pageBytes - 40, pages.pageBytes - 10),
  },
  { name: "the list of free pages", isShort: true, corrupt: (pages) => fill(pages, pages.freeTrunk, 0xff, 0, 64) },
  { name: "the schema", corrupt: (pages) => fill(pages, 1, 0xff, 100, 4_000) },
  { name: "the header", corrupt: (pages) => fill(pages, 1, 0xff, 0, 16) },
  {
    name: "half of the file missing",
    corrupt: (pages) => pages.bytes.subarray(0, pages.offset(Math.ceil(pages.bytes.length / pages.pageBytes / 2))),
  },
  {
    name: "half of the last page missing",
    isShort: true,
    corrupt: (pages) => pages.bytes.subarray(0, pages.bytes.length - pages.pageBytes / 2),
  },
  { name: "all but 50 bytes missing", corrupt: (pages) => pages.bytes.subarray(0, 50) },
];

export async function damagedAtRest(context: ProofContext): Promise<Proof> {
  const baseline = await sharedBaseline(context);
  const rows: string[][] = [];
  const undetected: string[] = [];
  const unclear: string[] = [];
  const notRestored: string[] = [];
  const damages = DAMAGES.filter(({ isShort }) => context.form === "long" || isShort === true);
  await forEachConcurrently([...damages.entries()], CONCURRENCY, async ([index, damage]) => {
    const folder = join(context.directory, `damaged-${index}`);
    cpSync(baseline.folder, folder, { recursive: true });
    const database = join(folder, "netledger.db");
    const pages = new DatabasePages(join(baseline.folder, "netledger.db"), readFileSync(database));
    writeFileSync(database, damage.corrupt(pages));
    const appliance = ApplianceUnderTest.in(context, folder);
    try {
      const verified = await appliance.run(["verify"]);
      if (verified.code === 0 || !(REMEDY.test(verified.out + verified.err) || NO_DATABASE.test(verified.err)))
        undetected.push(`${damage.name}: ${verified.code} ${verified.out.slice(-300)}${verified.err}`);
      const affected = await serveDamaged(appliance, baseline, damage);
      unclear.push(...affected.unclear);
      rows.push([damage.name, verified.code === 0 ? "**not found**" : `status ${verified.code}`, affected.outcome]);
      const restored = await appliance.run(["restore", baseline.backup, "--replace"]);
      const verifiedAgain = await appliance.run(["verify"]);
      const running = await appliance.serve();
      const differing = await differences(running.withKey(baseline.key), baseline);
      await running.stop();
      if (restored.code !== 0 || verifiedAgain.code !== 0 || differing.length > 0)
        notRestored.push(
          `${damage.name}: restore ${restored.code} ${restored.err}, verify ${verifiedAgain.code}${problemSummary(differing)}`,
        );
    } finally {
      await appliance.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
  return {
    findings: [
      finding(
        "verify detects every kind of damage to the file, and gives the remedy",
        undetected.length === 0,
        `${damages.length} kinds${problemSummary(undetected)}`,
      ),
      finding(
        "serve on damaged data refuses in one sentence with status 3, or responds correctly outside the damage; inside it responds with a plain 500 in the envelope, and logs the remedy",
        unclear.length === 0,
        `${damages.length} kinds${problemSummary(unclear)}`,
      ),
      finding(
        "netledger restore BACKUP --replace recovers everything: verify finds the data intact, and the responses are unchanged",
        notRestored.length === 0,
        `${damages.length} times${problemSummary(notRestored)}`,
      ),
    ],
    tables: [{ title: "Damage to the file, the appliance stopped", columns: ["damaged", "verify", "serve"], rows }],
  };
}

/** Corrupts a page of the ledger while the appliance runs. */
export async function damagedWhileRunning(context: ProofContext): Promise<Proof> {
  const baseline = await sharedBaseline(context);
  const folder = join(context.directory, "damaged-running");
  cpSync(baseline.folder, folder, { recursive: true });
  const database = join(folder, "netledger.db");
  const pages = new DatabasePages(join(baseline.folder, "netledger.db"), readFileSync(database));
  const page = pages.leaf("history_versions");
  const appliance = ApplianceUnderTest.in(context, folder);
  try {
    const running = await appliance.serve();
    const client = running.withKey(baseline.key);
    const before = await differences(client, baseline);
    const file = openSync(database, "r+");
    writeSync(file, Buffer.alloc(256, 0xff), 0, 256, pages.offset(page));
    closeSync(file);
    const unexpected: string[] = [...before];
    let refused = 0;
    for (let round = 0; round < 5; round += 1) {
      for (const path of baseline.responses.keys()) {
        const response = await client
          .get(path)
          .catch((error: unknown) => ({ status: 0, text: String(error), body: null }));
        if (isPlainError(response) || (response.status === 0 && IS_STREAM.test(path))) refused += 1;
        else if (response.status !== 200) unexpected.push(`${path}: ${response.status} ${response.text.slice(0, 200)}`);
      }
    }
    const live = await client.get("/api/v1/networks");
    const written = await client.post("/api/v1/tags", { name: "written meanwhile", color: "Blue" });
    const end = await running.stop();
    const isLogged = REMEDY.test(end.err);
    return proofOf(
      "a ledger page damaged while the appliance runs causes a plain 500 and a log line; everything else continues, and nothing crashes",
      unexpected.length === 0 &&
        refused > 0 &&
        isLogged &&
        live.status === 200 &&
        written.status === 200 &&
        end.code === 0 &&
        end.signal === null,
      `${refused} requests reached it; a list ${live.status}, a write ${written.status}, stop ${end.code}${isLogged ? "" : "; the log does not give the remedy"}${problemSummary(unexpected)}`,
    );
  } finally {
    await appliance.close();
  }
}

/**
 * Corrupts a frame in the middle of the write-ahead log: SQLite uses the log up to that frame, and the recorded ledger
 * head reveals the loss.
 */
export async function damagedLog(context: ProofContext): Promise<Proof> {
  const folder = join(context.directory, "damaged-log");
  const appliance = ApplianceUnderTest.in(context, folder);
  try {
    const { key, running, client } = await appliance.serveSetUp();
    for (let number = 0; number < 30; number += 1) await client.post("tags", { name: `tag ${number}`, color: "Blue" });
    const { sequence, hash } = (await client.get("/api/v1/ledger")).data;
    running.kill("SIGKILL");
    await running.exited;
    const log = join(folder, "netledger.db-wal");
    const bytes = readFileSync(log);
    bytes.fill(0x5a, Math.floor(bytes.length / 2), Math.floor(bytes.length / 2) + 100);
    writeFileSync(log, bytes);
    const verifiedToHead = await appliance.run(["verify", "--head", `${sequence}:${hash}`]);
    const restarted = await appliance.serve();
    const tags = (await restarted.withKey(key).get("/api/v1/tags?limit=0")).data as Array<{ name: string }>;
    await restarted.stop();
    const verified = await appliance.run(["verify"]);
    const names = tags.map(({ name }) => Number(name.slice(4))).sort((a, b) => a - b);
    const isPrefix = names.every((number, index) => number === index);
    return proofOf(
      "a write-ahead log damaged in the middle yields a complete earlier state, never a partial one; verify --head reports that later transactions are missing",
      isPrefix && names.length < 30 && verified.code === 0 && verifiedToHead.code === 1,
      `${names.length} of 30 transactions left; verify --head ${verifiedToHead.code}, verify ${verified.code}${verifiedToHead.code === 1 ? "" : `: ${verifiedToHead.err}${verifiedToHead.out}`}`,
    );
  } finally {
    await appliance.close();
  }
}

/** Whether a response is a 500 in the envelope without an exception's text. */
function isPlainError({ status, body, text }: Pick<ApiResponse, "status" | "body" | "text">): boolean {
  return status === 500 && body?.code === "internal_error" && !EXCEPTION_TEXT.test(text);
}

async function serveDamaged(
  appliance: ApplianceUnderTest,
  baseline: Baseline,
  damage: Damage,
): Promise<{ readonly unclear: string[]; readonly outcome: string }> {
  const started = await appliance.start();
  if (!(started instanceof Running)) {
    const isClear = started.code === 3 && isOneSentence(started.err);
    return {
      unclear: isClear ? [] : [`${damage.name}: ${started.code} ${started.err}`],
      outcome: started.err.trim().replaceAll(appliance.location.data, "…"),
    };
  }
  const client = started.withKey(baseline.key);
  const unclear: string[] = [];
  let affected = 0;
  for (const [path, expected] of baseline.responses) {
    const response = await client.get(path).catch(() => null);
    if (response === null ? IS_STREAM.test(path) : isPlainError(response)) affected += 1;
    else if (response === null) unclear.push(`${damage.name}: ${path}: no response`);
    else if (response.status !== 200)
      unclear.push(`${damage.name}: ${path}: ${response.status} ${response.text.slice(0, 200)}`);
    else if (damage.isSilent !== true && response.text !== expected)
      unclear.push(`${damage.name}: ${path}: a changed response`);
  }
  const written = await client.post("/api/v1/tags", { name: "written on damage", color: "Blue" });
  if (written.status !== 200 && (written.status !== 500 || EXCEPTION_TEXT.test(written.text)))
    unclear.push(`${damage.name}: a write: ${written.status} ${written.text.slice(0, 200)}`);
  if (written.status === 500) affected += 1;
  const { code, err } = await started.stop();
  if (code !== 0) unclear.push(`${damage.name}: stops with ${code}: ${err.slice(-200)}`);
  if (affected > 0 && !REMEDY.test(err))
    unclear.push(`${damage.name}: the log does not give the remedy: ${err.slice(-300)}`);
  return {
    unclear,
    outcome:
      damage.isSilent === true
        ? "starts; undetected"
        : `starts; ${affected} of ${baseline.responses.size + 1} requests reached it`,
  };
}

/** Returns data at rest with some history, free pages, a backup, and responses for comparison; created once. */
function sharedBaseline(context: ProofContext): Promise<Baseline> {
  const baseline = BASELINES.get(context.directory) ?? createBaseline(context);
  BASELINES.set(context.directory, baseline);
  return baseline;
}

const BASELINES = new Map<string, Promise<Baseline>>();

async function createBaseline(context: ProofContext): Promise<Baseline> {
  const folder = join(context.directory, "good");
  const backup = join(context.directory, "good-backup.db");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const appliance = ApplianceUnderTest.in(context, folder);
  try {
    const { key, networkId, running, client } = await appliance.serveSetUp();
    const ids: string[] = [];
    for (let number = 0; number < SUBNETS; number += 1) {
      const created = await client.post("/api/v1/subnets", {
        network_id: networkId,
        cidr: `10.${number >> 8}.${number & 255}.0/24`,
        name: `subnet ${number}`,
        description: `letters ${"to be changed ".repeat(40)}`,
      });
      ids.push(created.data.id);
    }
    const paths = [
      "/api/v1/networks",
      ...[0, 100, 200].map((offset) => `/api/v1/subnets?limit=100&offset=${offset}`),
      `/api/v1/subnets?limit=100&offset=100&at=${new Date(Date.now() - 1).toISOString()}`,
      "/api/v1/subnets?limit=0",
      ...[10, 150, 290].flatMap((number) => [
        `/api/v1/subnets/${ids[number]}`,
        `/api/v1/subnets/${ids[number]}/history`,
      ]),
    ];
    const responses = new Map<string, string>();
    for (const path of paths) {
      const response = await client.get(path);
      if (response.status !== 200) throw new Error(`${path}: ${response.text.slice(0, 200)}`);
      responses.set(path, response.text);
    }
    await running.stop();
    freePages(join(folder, "netledger.db"));
    const backupRun = await appliance.run(["backup", backup]);
    if (backupRun.code !== 0 || !existsSync(backup)) throw new Error(backupRun.err);
    // A reader may have left an empty log.
    for (const suffix of ["-wal", "-shm"]) rmSync(join(folder, `netledger.db${suffix}`), { force: true });
    return { folder, backup, key, responses };
  } finally {
    await appliance.close();
  }
}

async function differences(client: Client, baseline: Baseline): Promise<string[]> {
  const wrong: string[] = [];
  for (const [path, expected] of baseline.responses) {
    const response = await client.get(path);
    if (response.text !== expected) wrong.push(`${path}: ${response.status} ${response.text.slice(0, 100)}`);
  }
  return wrong;
}

/** Creates free pages by dropping a table. */
function freePages(path: string): void {
  const db = new Database(path);
  try {
    db.run("CREATE TABLE gone (a)");
    db.run(
      `INSERT INTO gone SELECT randomblob(4000)
        FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) SELECT i FROM n)`,
    );
    db.run("DROP TABLE gone");
    db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    db.close(true);
  }
}

function overwrite(name: string): (pages: DatabasePages) => Buffer {
  return (pages) => fill(pages, pages.leaf(name), 0xff, 0, 64);
}

function changeLetter(name: string): (pages: DatabasePages) => Buffer {
  return (pages) => {
    const start = pages.offset(pages.leaf(name));
    const index = pages.bytes.indexOf("letters", start);
    if (index < 0 || index > start + pages.pageBytes) throw new Error(`no test record in the middle of ${name}`);
    pages.bytes.write("L", index);
    return pages.bytes;
  };
}

function fill(pages: DatabasePages, page: number, value: number, from: number, to: number): Buffer {
  if (page < 1) throw new Error("no such page");
  return pages.bytes.fill(value, pages.offset(page) + from, pages.offset(page) + to);
}
