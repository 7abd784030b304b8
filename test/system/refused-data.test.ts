// Unusable data: newer, unreleased, foreign, damaged, without its key, or under a clock that jumped. Refused in one
// sentence with status 3, or 1 from before the first release, without changing a byte.

import { Database } from "bun:sqlite";
import { beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SYSTEM_AUTHOR } from "../../src/access/actor.ts";
import { SCHEMA_VERSION } from "../../src/db/files/migrate.ts";
import { DirectWriteQueue } from "../../src/db/writing/write-queue.ts";
import { openWriter } from "../../src/server/open-writer.ts";
import type { Finished } from "../support/executable/executable.ts";
import { workplaceForEach } from "../support/executable/workplaces.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

const place = workplaceForEach(tmpdir());
let database: string;
beforeEach(() => {
  database = join(place.data, "netledger.db");
});

describe("refused without changes:", () => {
  test("a database of a newer version", async () => {
    await place.setUp();
    withDatabase((db) => db.run(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`));
    await expectRefused(
      `${database} was written by a newer netledger (schema ${SCHEMA_VERSION + 1}, this one knows ${SCHEMA_VERSION}) and was left untouched. Use the newer version.`,
    );
  });

  test("a database from before 0.2.0", async () => {
    await place.setUp();
    withDatabase((db) => db.run("PRAGMA user_version = 35"));
    await expectRefused(
      `${database} was written by a netledger before 0.2.0 (schema 35) and was left untouched: this one cannot upgrade it. Use that version, or start with a new data folder.`,
      1,
    );
  });

  test("another program's database", async () => {
    mkdirSync(place.data);
    withDatabase((db) => {
      db.run("PRAGMA application_id = 1234");
      db.run("CREATE TABLE theirs (a)");
    });
    await expectRefused(`${database} is a database of another program.`);
  });

  test("a file that is not a database", async () => {
    mkdirSync(place.data);
    writeFileSync(database, "a letter to somebody else\n".repeat(10));
    await expectRefused(`${database} is not an SQLite database.`);
  });

  test("data with a key file readable by others", async () => {
    await place.setUp();
    chmodSync(join(place.data, "netledger.key"), 0o644);
    await expectRefused(
      `The key file ${join(place.data, "netledger.key")} is open to others (mode 0644): make it 0600 with chmod.`,
    );
  });

  test("data with a truncated key file", async () => {
    await place.setUp();
    writeFileSync(join(place.data, "netledger.key"), "short");
    await expectRefused(
      `The key file ${join(place.data, "netledger.key")} has 5 bytes instead of 32: it is damaged or the wrong file; restore the right one.`,
    );
  });

  test("a data folder that is a file", async () => {
    writeFileSync(place.data, "");
    await expectRefused(`The data folder ${place.data} cannot be created or written to (EEXIST).`);
  });
});

test("a database without our tables is refused, and its tables are left alone", async () => {
  mkdirSync(place.data);
  withDatabase((db) => db.run("CREATE TABLE theirs (a)"));
  expectSentence(await start(), `${database} is a database of another program.`);
  withDatabase((db) => expect(db.query("SELECT name FROM sqlite_schema").values()).toEqual([["theirs"]]));
});

test("a database damaged at its root is refused", async () => {
  await place.setUp();
  const bytes = readFileSync(database);
  bytes.fill(0xff, 100, 4_000);
  writeFileSync(database, bytes);
  const refused = await start();
  expect([refused.code, refused.out]).toEqual([3, ""]);
  expect(refused.err).toBe(
    `netledger: ${database} is damaged (SQLITE_CORRUPT): replace it with a good copy: netledger restore BACKUP --replace.\n`,
  );
});

test("a database with a truncated last page is refused, since SQLite would read zeros there", async () => {
  await place.setUp();
  truncateSync(database, statSync(database).size - 5_000);
  await expectRefused(
    `${database} is damaged: it is truncated. Replace it with a good copy: netledger restore BACKUP --replace.`,
  );
});

test.each([["empty"], ["missing"]])(
  "a database that is %s while its log is not is refused, since SQLite would delete the log",
  async (what) => {
    await place.setUp();
    writeFileSync(`${database}-wal`, "what was written last");
    if (what === "empty") writeFileSync(database, "");
    else rmSync(database);
    expectSentence(
      await start(),
      `${database} is ${what}, and its log ${database}-wal is not. Replace it with a good copy: netledger restore BACKUP --replace.`,
    );
    expect(readFileSync(`${database}-wal`, "utf8")).toBe("what was written last");
  },
);

// Root may write to everything.
test.skipIf(process.getuid?.() === 0)("a read-only database is refused before the first write", async () => {
  await place.setUp();
  chmodSync(database, 0o400);
  await expectRefused(`${database} cannot be written to (EACCES).`);
});

test("the lock takes no space: nothing is written for it, so that it works on a full disk", async () => {
  await place.setUp();
  const running = await place.serve();
  expect(existsSync(join(place.data, "netledger.lock-journal"))).toBe(false);
  await running.stop();
});

describe("a missing key file", () => {
  test("is refused if the data have secrets sealed with it, and none is created", async () => {
    const { key, organizationId, running } = await place.serveSetUp();
    const made = await running.withKey(key).post("credentials", {
      organization_id: organizationId,
      name: "SNMP",
      credential_type: { type: "SnmpV2c", community: { mode: "Inline", value: "not to be lost" } },
      assigned_network_ids: [],
      host_assignments: [],
      tags: [],
    });
    expect(made.status).toBe(200);
    await running.stop();
    const keyFile = join(place.data, "netledger.key");
    rmSync(keyFile);

    const sentence = `The key file ${keyFile} is missing, and ${database} holds secrets sealed with it: put it back. If it is lost, take a backup and restore it with --replace --drop-secrets.`;
    expectSentence(await start(), sentence);
    expectSentence(await place.command("user", "list"), sentence);
    expect(existsSync(keyFile)).toBe(false);
  });

  test("is created again if there are none", async () => {
    await place.setUp();
    rmSync(join(place.data, "netledger.key"));
    await place.serve();
    expect(statSync(join(place.data, "netledger.key")).size).toBe(32);
  });
});

describe("a clock jump", () => {
  test("by more than 400 days is refused until confirmed", async () => {
    await writtenAt(Date.now() - 401 * DAY_MS);
    const refused = await start();
    expect([refused.code, refused.out]).toEqual([3, ""]);
    expect(refused.err).toMatch(
      /^netledger: The clock says \S+Z, more than 400 days after the last change \(\S+Z\): set it right, or confirm it with --accept-clock\.\n$/,
    );
    const subcommand = await place.command("user", "list");
    expect([subcommand.code, subcommand.out]).toEqual([3, ""]);

    expect((await place.serve(["--accept-clock"])).lines).toHaveLength(3);
    expect(
      (await place.run(["user", "list", "--data", place.data], { env: { NETLEDGER_ACCEPT_CLOCK: "1" } })).code,
    ).toBe(0);
  });

  test("by less is accepted", async () => {
    await writtenAt(Date.now() - 399 * DAY_MS);
    expect((await place.serve()).lines).toHaveLength(3);
  });

  test("backwards is logged, and the start continues", async () => {
    await writtenAt(Date.now() + DAY_MS);
    const running = await place.serve();
    expect(running.log).toMatch(/WARN {2}store_clock_leads lead_ms=8\d{7} last_change=/);
  });

  test("backwards by less than a second is not logged", async () => {
    await writtenAt(Date.now());
    const running = await place.serve();
    await running.logged("started");
    expect(running.log).not.toContain("store_clock_leads");
  });
});

/** Creates data with an organization set up at a timestamp. */
async function writtenAt(instant: number): Promise<void> {
  mkdirSync(place.data, { mode: 0o700 });
  const key = seededRandom(1).bytes(32);
  writeFileSync(join(place.data, "netledger.key"), key, { mode: 0o600 });
  const clock = { now: () => instant };
  const writes = new DirectWriteQueue(openWriter({ databasePath: database, secretKey: key }, clock, seededRandom(2)));
  await writes.run(
    "organization.set_up",
    {
      organizationName: "Acme",
      networkName: "Main",
      email: "owner@acme.example",
      passwordHash: "none",
      onlyFirst: true,
    },
    SYSTEM_AUTHOR,
  );
  await writes.close();
}

function withDatabase(work: (db: Database) => void): void {
  const db = new Database(database, { create: true, readwrite: true });
  try {
    work(db);
    db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    db.close(true);
  }
}

function start(): Promise<Finished> {
  return place.command("serve", "--listen", "127.0.0.1:0");
}

/** Every command that opens data refuses, and the folder stays unchanged. */
async function expectRefused(sentence: string, code = 3): Promise<void> {
  const before = contents();
  expectSentence(await start(), sentence, code);
  for (const args of [
    ["user", "list"],
    ["key", "list"],
    ["user", "disable", "--email", "owner@acme.example"],
  ]) {
    const refused = await place.command(...args);
    expect([args, refused.code, refused.out]).toEqual([args, code, ""]);
  }
  expect(contents()).toEqual(before);
}

function expectSentence(finished: Finished, sentence: string, code = 3): void {
  expect(finished).toEqual({ code, signal: null, out: "", err: `netledger: ${sentence}\n` });
}

/** Name, modification time and bytes of every file; the lock may appear. */
function contents(): unknown[] {
  if (!statSync(place.data).isDirectory()) return [readFileSync(place.data).toString("base64")];
  return readdirSync(place.data)
    .filter((name) => name !== "netledger.lock")
    .sort()
    .map((name) => [name, statSync(join(place.data, name)).mtimeMs, Bun.hash(readFileSync(join(place.data, name)))]);
}
