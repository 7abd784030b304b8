// Corrupted data: found, reported in a sentence, never answered with an exception's text, and restored from a backup.

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
import type { Client } from "../../../test/support/appliance/client.ts";
import { Running } from "../../../test/support/executable/executable.ts";
import type { Proof, Proving } from "../part.ts";
import { ProvedAppliance } from "./appliance.ts";
import { finding, isOneSentence, told } from "./full.ts";
import { DatabasePages } from "./pages.ts";

const SUBNETS = 300;
/** Remedies named by the log and the messages. */
const REMEDY = /netledger restore BACKUP --replace|netledger verify --repair-derived/;
/** A sufficient message for a file without any of our data. */
const NO_DATABASE = /is not an SQLite database\./;
/** Streamed answers that meet the damage midway: closing their connection is the only possible signal. */
const IS_STREAM = /limit=0|\/history/;
/** Text that no caller may see. */
const EXCEPTION_TEXT = /SQLite|malformed|disk image|\.ts:\d|at <anonymous>/;

interface Damage {
  readonly name: string;
  /** Corrupts the bytes of the database; may truncate them. */
  readonly spoil: (pages: DatabasePages) => Buffer;
  /** Whether SQLite cannot detect it: another letter of a text is equally valid. */
  readonly isSilent?: true;
  /** Also part of the short form. */
  readonly isShort?: true;
}

interface Good {
  readonly folder: string;
  readonly backup: string;
  readonly key: string;
  /** Answers by requested path. */
  readonly answers: ReadonlyMap<string, string>;
}

const DAMAGES: readonly Damage[] = [
  { name: "a leaf of a live table", isShort: true, spoil: overwritten("subnets") },
  { name: "a letter in a live record", isSilent: true, spoil: letter("subnets") },
  { name: "a leaf in the middle of the ledger", isShort: true, spoil: overwritten("history_versions") },
  { name: "a letter in a version of the ledger", isSilent: true, spoil: letter("history_versions") },
  {
    name: "a leaf of the transactions, zeros",
    spoil: (pages) => fill(pages, pages.leaf("history_transactions"), 0, 0, pages.pageBytes),
  },
  { name: "a leaf of an index", spoil: overwritten("sqlite_autoindex_history_records_1") },
  {
    name: "an entry of an index",
    spoil: (pages) =>
      fill(pages, pages.leaf("sqlite_autoindex_subnets_1"), 0x41, pages.pageBytes - 40, pages.pageBytes - 10),
  },
  { name: "the list of free pages", isShort: true, spoil: (pages) => fill(pages, pages.freeTrunk, 0xff, 0, 64) },
  { name: "the schema", spoil: (pages) => fill(pages, 1, 0xff, 100, 4_000) },
  { name: "the header", spoil: (pages) => fill(pages, 1, 0xff, 0, 16) },
  {
    name: "half of the file missing",
    spoil: (pages) => pages.bytes.subarray(0, pages.offset(Math.ceil(pages.bytes.length / pages.pageBytes / 2))),
  },
  {
    name: "half of the last page missing",
    isShort: true,
    spoil: (pages) => pages.bytes.subarray(0, pages.bytes.length - pages.pageBytes / 2),
  },
  { name: "all but 50 bytes missing", spoil: (pages) => pages.bytes.subarray(0, 50) },
];

export async function damagedAtRest(proving: Proving): Promise<Proof> {
  const good = await makeGood(proving);
  const rows: string[][] = [];
  const unfound: string[] = [];
  const unclear: string[] = [];
  const unrestored: string[] = [];
  const damages = DAMAGES.filter(({ isShort }) => proving.form === "long" || isShort === true);
  const work = damages.map((damage, place) => ({ damage, place }));
  const lane = async () => {
    for (let next = work.shift(); next !== undefined; next = work.shift()) {
      const { damage, place } = next;
      const folder = join(proving.directory, `damaged-${place}`);
      cpSync(good.folder, folder, { recursive: true });
      const database = join(folder, "netledger.db");
      writeFileSync(
        database,
        damage.spoil(new DatabasePages(join(good.folder, "netledger.db"), readFileSync(database))),
      );
      const appliance = ProvedAppliance.in(proving, folder);
      try {
        const verified = await appliance.run(["verify"]);
        if (
          verified.code === 0 ||
          !(REMEDY.test(verified.out) || REMEDY.test(verified.err) || NO_DATABASE.test(verified.err))
        )
          unfound.push(`${damage.name}: ${verified.code} ${verified.out.slice(-300)}${verified.err}`);
        const met = await serveDamaged(appliance, good, damage);
        unclear.push(...met.unclear);
        rows.push([damage.name, verified.code === 0 ? "**not found**" : `status ${verified.code}`, met.told]);
        const restored = await appliance.run(["restore", good.backup, "--replace"]);
        const sound = await appliance.run(["verify"]);
        const running = await appliance.serve();
        const differing = await differences(running.withKey(good.key), good);
        await running.stop();
        if (restored.code !== 0 || sound.code !== 0 || differing.length > 0)
          unrestored.push(
            `${damage.name}: restore ${restored.code} ${restored.err}, verify ${sound.code}${told(differing)}`,
          );
      } finally {
        await appliance.close();
        rmSync(folder, { recursive: true, force: true });
      }
    }
  };
  await Promise.all([lane(), lane()]);
  return {
    findings: [
      finding(
        "verify finds every damage to the file, and gives the remedy",
        unfound.length === 0,
        `${damages.length} kinds${told(unfound)}`,
      ),
      finding(
        "serve on damaged data refuses in one sentence with status 3, or answers correctly outside the damage; inside it answers a plain 500 in the envelope, and logs the remedy",
        unclear.length === 0,
        `${damages.length} kinds${told(unclear)}`,
      ),
      finding(
        "netledger restore BACKUP --replace recovers everything: verify finds the data intact, and the answers are unchanged",
        unrestored.length === 0,
        `${damages.length} times${told(unrestored)}`,
      ),
    ],
    tables: [{ title: "Damage to the file, the appliance stopped", columns: ["damaged", "verify", "serve"], rows }],
  };
}

/** Corrupts a page of the ledger under a running appliance. */
export async function damagedWhileRunning(proving: Proving): Promise<Proof> {
  const good = await makeGood(proving);
  const folder = join(proving.directory, "damaged-running");
  cpSync(good.folder, folder, { recursive: true });
  const database = join(folder, "netledger.db");
  const pages = new DatabasePages(join(good.folder, "netledger.db"), readFileSync(database));
  const page = pages.leaf("history_versions");
  const appliance = ProvedAppliance.in(proving, folder);
  try {
    const running = await appliance.serve();
    const client = running.withKey(good.key);
    const before = await differences(client, good);
    const file = openSync(database, "r+");
    writeSync(file, Buffer.alloc(256, 0xff), 0, 256, pages.offset(page));
    closeSync(file);
    const strange: string[] = [...before];
    let refused = 0;
    for (let round = 0; round < 5; round += 1) {
      for (const path of good.answers.keys()) {
        const answer = await client
          .get(path)
          .catch((error: unknown) => ({ status: 0, text: String(error), body: null }));
        if (answer.status === 500 && answer.body?.code === "internal_error" && !EXCEPTION_TEXT.test(answer.text))
          refused += 1;
        else if (answer.status === 0 && IS_STREAM.test(path)) refused += 1;
        else if (answer.status !== 200) strange.push(`${path}: ${answer.status} ${answer.text.slice(0, 200)}`);
      }
    }
    const live = await client.get("/api/v1/networks");
    const written = await client.post("/api/v1/tags", { name: "written meanwhile", color: "Blue" });
    const end = await running.stop();
    const isTold = REMEDY.test(end.err);
    return {
      findings: [
        finding(
          "a ledger page damaged while the appliance runs causes a plain 500 and a log line; everything else continues, and nothing crashes",
          strange.length === 0 &&
            refused > 0 &&
            isTold &&
            live.status === 200 &&
            written.status === 200 &&
            end.code === 0 &&
            end.signal === null,
          `${refused} requests met it; a list ${live.status}, a write ${written.status}, stop ${end.code}${isTold ? "" : "; the log does not give the remedy"}${told(strange)}`,
        ),
      ],
    };
  } finally {
    await appliance.close();
  }
}

/**
 * Corrupts a frame in the middle of the write-ahead log: SQLite uses the log up to there, and the recorded ledger head
 * reveals the loss.
 */
export async function damagedLog(proving: Proving): Promise<Proof> {
  const folder = join(proving.directory, "damaged-log");
  const appliance = ProvedAppliance.in(proving, folder);
  try {
    const { key, running, client } = await appliance.serveSetUp();
    for (let each = 0; each < 30; each += 1) await client.post("/api/v1/tags", { name: `tag ${each}`, color: "Blue" });
    const { sequence, hash } = (await client.get("/api/v1/ledger")).data;
    running.kill("SIGKILL");
    await running.exited;
    const log = join(folder, "netledger.db-wal");
    const bytes = readFileSync(log);
    bytes.fill(0x5a, Math.floor(bytes.length / 2), Math.floor(bytes.length / 2) + 100);
    writeFileSync(log, bytes);
    const known = await appliance.run(["verify", "--head", `${sequence}:${hash}`]);
    const again = await appliance.serve();
    const tags = (await again.withKey(key).get("/api/v1/tags?limit=0")).data as Array<{ name: string }>;
    await again.stop();
    const verified = await appliance.run(["verify"]);
    const names = tags.map(({ name }) => Number(name.slice(4))).sort((a, b) => a - b);
    const isPrefix = names.every((each, place) => each === place);
    return {
      findings: [
        finding(
          "a write-ahead log damaged in the middle yields a complete earlier state, never a partial one; verify --head reports that later transactions are missing",
          isPrefix && names.length < 30 && verified.code === 0 && known.code === 1,
          `${names.length} of 30 transactions left; verify --head ${known.code}, verify ${verified.code}${known.code === 1 ? "" : `: ${known.err}${known.out}`}`,
        ),
      ],
    };
  } finally {
    await appliance.close();
  }
}

async function serveDamaged(
  appliance: ProvedAppliance,
  good: Good,
  damage: Damage,
): Promise<{ readonly unclear: string[]; readonly told: string }> {
  const started = await appliance.start();
  if (!(started instanceof Running)) {
    const isClear = started.code === 3 && isOneSentence(started.err);
    return {
      unclear: isClear ? [] : [`${damage.name}: ${started.code} ${started.err}`],
      told: started.err.trim().replaceAll(appliance.place.data, "…"),
    };
  }
  const client = started.withKey(good.key);
  const unclear: string[] = [];
  let met = 0;
  for (const [path, expected] of good.answers) {
    const answer = await client.get(path).catch(() => null);
    if (answer === null && IS_STREAM.test(path)) met += 1;
    else if (answer === null) unclear.push(`${damage.name}: ${path}: no answer`);
    else if (answer.status === 500 && answer.body?.code === "internal_error" && !EXCEPTION_TEXT.test(answer.text))
      met += 1;
    else if (answer.status !== 200)
      unclear.push(`${damage.name}: ${path}: ${answer.status} ${answer.text.slice(0, 200)}`);
    else if (damage.isSilent !== true && answer.text !== expected)
      unclear.push(`${damage.name}: ${path}: a changed answer`);
  }
  const written = await client.post("/api/v1/tags", { name: "written on damage", color: "Blue" });
  if (written.status !== 200 && (written.status !== 500 || EXCEPTION_TEXT.test(written.text)))
    unclear.push(`${damage.name}: a write: ${written.status} ${written.text.slice(0, 200)}`);
  if (written.status === 500) met += 1;
  const { code, err } = await started.stop();
  if (code !== 0) unclear.push(`${damage.name}: stops with ${code}: ${err.slice(-200)}`);
  if (met > 0 && !REMEDY.test(err))
    unclear.push(`${damage.name}: the log does not give the remedy: ${err.slice(-300)}`);
  return {
    unclear,
    told: damage.isSilent === true ? "starts; not seen" : `starts; ${met} of ${good.answers.size + 1} requests met it`,
  };
}

/** Data at rest with some history, free pages, a backup, and answers for comparison. Created once. */
function makeGood(proving: Proving): Promise<Good> {
  const known = GOOD.get(proving.directory) ?? layDown(proving);
  GOOD.set(proving.directory, known);
  return known;
}

const GOOD = new Map<string, Promise<Good>>();

async function layDown(proving: Proving): Promise<Good> {
  const folder = join(proving.directory, "good");
  const backup = join(proving.directory, "good-backup.db");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const appliance = ProvedAppliance.in(proving, folder);
  try {
    const { key, networkId, running, client } = await appliance.serveSetUp();
    const ids: string[] = [];
    for (let each = 0; each < SUBNETS; each += 1) {
      const made = await client.post("/api/v1/subnets", {
        network_id: networkId,
        cidr: `10.${each >> 8}.${each & 255}.0/24`,
        name: `subnet ${each}`,
        description: `letters ${"to be changed ".repeat(40)}`,
      });
      ids.push(made.data.id);
    }
    const paths = [
      "/api/v1/networks",
      ...[0, 100, 200].map((offset) => `/api/v1/subnets?limit=100&offset=${offset}`),
      `/api/v1/subnets?limit=100&offset=100&at=${new Date(Date.now() - 1).toISOString()}`,
      "/api/v1/subnets?limit=0",
      ...[10, 150, 290].flatMap((each) => [`/api/v1/subnets/${ids[each]}`, `/api/v1/subnets/${ids[each]}/history`]),
    ];
    const answers = new Map<string, string>();
    for (const path of paths) {
      const answer = await client.get(path);
      if (answer.status !== 200) throw new Error(`${path}: ${answer.text.slice(0, 200)}`);
      answers.set(path, answer.text);
    }
    await running.stop();
    freePages(join(folder, "netledger.db"));
    const taken = await appliance.run(["backup", backup]);
    if (taken.code !== 0 || !existsSync(backup)) throw new Error(taken.err);
    // A reader may have left an empty log.
    for (const suffix of ["-wal", "-shm"]) rmSync(join(folder, `netledger.db${suffix}`), { force: true });
    return { folder, backup, key, answers };
  } finally {
    await appliance.close();
  }
}

async function differences(client: Client, good: Good): Promise<string[]> {
  const wrong: string[] = [];
  for (const [path, expected] of good.answers) {
    const answer = await client.get(path);
    if (answer.text !== expected) wrong.push(`${path}: ${answer.status} ${answer.text.slice(0, 100)}`);
  }
  return wrong;
}

/** As left by a dropped table. */
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

function overwritten(name: string): (pages: DatabasePages) => Buffer {
  return (pages) => fill(pages, pages.leaf(name), 0xff, 0, 64);
}

function letter(name: string): (pages: DatabasePages) => Buffer {
  return (pages) => {
    const start = pages.offset(pages.leaf(name));
    const place = pages.bytes.indexOf("letters", start);
    if (place < 0 || place > start + pages.pageBytes)
      throw new Error(`no record of ours stands in the middle of ${name}`);
    pages.bytes.write("L", place);
    return pages.bytes;
  };
}

function fill(pages: DatabasePages, page: number, value: number, from: number, to: number): Buffer {
  if (page < 1) throw new Error("there is no such page");
  return pages.bytes.fill(value, pages.offset(page) + from, pages.offset(page) + to);
}
