// Unusable data: newer, pre-release, another program's, damaged, without its key, or after a clock jump. The start
// fails with one sentence and status 3 (1 for pre-release data), without changing a byte.

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
import { type CommandResult, EXECUTABLE, OWNER, UNPRIVILEGED } from "../support/executable/executable.ts";
import { sandboxForEach } from "../support/executable/sandboxes.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

const sandbox = sandboxForEach(tmpdir());
let database: string;
beforeEach(() => {
  database = join(sandbox.data, "netledger.db");
});

describe("refused without changes", () => {
  test("a database of a newer version", async () => {
    await sandbox.setUp();
    withDatabase((db) => db.run(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`));
    await expectRefused(
      `${database} was written by a newer netledger (schema ${SCHEMA_VERSION + 1}; this version supports up to ${SCHEMA_VERSION}) and was left untouched. Use the newer version.`,
    );
  });

  test("a database from before 0.2.0", async () => {
    await sandbox.setUp();
    withDatabase((db) => db.run("PRAGMA user_version = 35"));
    await expectRefused(
      `${database} was written by a netledger before 0.2.0 (schema 35) and was left untouched: this version cannot upgrade it. Use that version, or start with a new data folder.`,
      1,
    );
  });

  test("another program's database", async () => {
    mkdirSync(sandbox.data);
    withDatabase((db) => {
      db.run("PRAGMA application_id = 1234");
      db.run("CREATE TABLE theirs (a)");
    });
    await expectRefused(`${database} belongs to another program.`);
  });

  test("a file that is not a database", async () => {
    mkdirSync(sandbox.data);
    writeFileSync(database, "a letter to somebody else\n".repeat(10));
    await expectRefused(`${database} is not an SQLite database.`);
  });

  test("data with a key file readable by others", async () => {
    await sandbox.setUp();
    const keyFile = join(sandbox.data, "netledger.key");
    chmodSync(keyFile, 0o644);
    await expectRefused(`The key file ${keyFile} is open to others (mode 0644): make it 0600 with chmod.`);
  });

  test("data with a truncated key file", async () => {
    await sandbox.setUp();
    writeFileSync(join(sandbox.data, "netledger.key"), "short");
    await expectRefused(
      `The key file ${join(sandbox.data, "netledger.key")} has 5 bytes instead of 32: it is damaged or the wrong file; restore the right one.`,
    );
  });

  test("a data directory that is a file", async () => {
    writeFileSync(sandbox.data, "");
    await expectRefused(`The data folder ${sandbox.data} cannot be created or written to (EEXIST).`);
  });
});

test("a database without netledger's tables is refused and not changed", async () => {
  mkdirSync(sandbox.data);
  withDatabase((db) => db.run("CREATE TABLE theirs (a)"));
  expectSentence(await start(), `${database} belongs to another program.`);
  withDatabase((db) => expect(db.query("SELECT name FROM sqlite_schema").values()).toEqual([["theirs"]]));
});

test("a database damaged at its root is refused", async () => {
  await sandbox.setUp();
  const bytes = readFileSync(database);
  bytes.fill(0xff, 100, 4_000);
  writeFileSync(database, bytes);
  expectSentence(
    await start(),
    `${database} is damaged (SQLITE_CORRUPT): replace it with a good copy: netledger restore BACKUP --replace.`,
  );
});

test("a database with a truncated last page is refused, since SQLite would read zeros there", async () => {
  await sandbox.setUp();
  truncateSync(database, statSync(database).size - 5_000);
  await expectRefused(
    `${database} is damaged: it is truncated. Replace it with a good copy: netledger restore BACKUP --replace.`,
  );
});

test.each([["empty"], ["missing"]])(
  "a database that is %s but has a log is refused, since SQLite would delete the log",
  async (state) => {
    await sandbox.setUp();
    writeFileSync(`${database}-wal`, "what was written last");
    if (state === "empty") writeFileSync(database, "");
    else rmSync(database);
    expectSentence(
      await start(),
      `${database} is ${state}, but its write-ahead log ${database}-wal is not. Replace it with a good copy: netledger restore BACKUP --replace.`,
    );
    expect(readFileSync(`${database}-wal`, "utf8")).toBe("what was written last");
  },
);

test("a read-only database is refused before the first write", async () => {
  await sandbox.setUp();
  chmodSync(database, 0o400);
  await expectRefused(`${database} cannot be written to (EACCES).`, 3, [...UNPRIVILEGED, EXECUTABLE]);
});

test("the lock writes no journal, so it works on a full disk", async () => {
  await sandbox.setUp();
  const running = await sandbox.serve();
  expect(existsSync(join(sandbox.data, "netledger.lock-journal"))).toBe(false);
  await running.stop();
});

describe("a missing key file", () => {
  test("is refused if the data has secrets sealed with it, and no new one is created", async () => {
    const { key, organizationId, running } = await sandbox.serveSetUp();
    const created = await running.withKey(key).post("credentials", {
      organization_id: organizationId,
      name: "SNMP",
      credential_type: { type: "SnmpV2c", community: { mode: "Inline", value: "not to be lost" } },
      assigned_network_ids: [],
      host_assignments: [],
      tags: [],
    });
    expect(created.status).toBe(200);
    await running.stop();
    const keyFile = join(sandbox.data, "netledger.key");
    rmSync(keyFile);

    const sentence = `The key file ${keyFile} is missing, and ${database} holds secrets sealed with it: put it back. If it is lost, take a backup and restore it with --replace --drop-secrets.`;
    expectSentence(await start(), sentence);
    expectSentence(await sandbox.command("user", "list"), sentence);
    expect(existsSync(keyFile)).toBe(false);
  });

  test("is created again if there are no sealed secrets", async () => {
    await sandbox.setUp();
    rmSync(join(sandbox.data, "netledger.key"));
    await sandbox.serve();
    expect(statSync(join(sandbox.data, "netledger.key")).size).toBe(32);
  });
});

describe("a clock jump", () => {
  test("is refused until confirmed if it exceeds 400 days", async () => {
    await createDataAt(Date.now() - 401 * DAY_MS);
    const result = await start();
    expect([result.code, result.out]).toEqual([3, ""]);
    expect(result.err).toMatch(
      /^netledger: The clock says \S+Z, more than 400 days after the last change \(\S+Z\): correct it, or confirm it with --accept-clock\.\n$/,
    );
    const subcommand = await sandbox.command("user", "list");
    expect([subcommand.code, subcommand.out]).toEqual([3, ""]);

    expect((await sandbox.serve(["--accept-clock"])).lines).toHaveLength(3);
    const env = { NETLEDGER_ACCEPT_CLOCK: "1" };
    expect((await sandbox.run(["user", "list", "--data", sandbox.data], { env })).code).toBe(0);
  });

  test("is accepted if it is shorter than 400 days", async () => {
    await createDataAt(Date.now() - 399 * DAY_MS);
    expect((await sandbox.serve()).lines).toHaveLength(3);
  });

  test("is logged if backwards, and the start continues", async () => {
    await createDataAt(Date.now() + DAY_MS);
    const running = await sandbox.serve();
    expect(running.log).toMatch(/WARN {2}store_clock_leads lead_ms=8\d{7} last_change=/);
  });

  test("is not logged if backwards by less than a second", async () => {
    await createDataAt(Date.now());
    const running = await sandbox.serve();
    await running.waitForLog("started");
    expect(running.log).not.toContain("store_clock_leads");
  });
});

/** Creates data with an organization set up at a timestamp. */
async function createDataAt(instant: number): Promise<void> {
  mkdirSync(sandbox.data, { mode: 0o700 });
  const key = seededRandom(1).bytes(32);
  writeFileSync(join(sandbox.data, "netledger.key"), key, { mode: 0o600 });
  const clock = { now: () => instant };
  const writes = new DirectWriteQueue(openWriter({ databasePath: database, secretKey: key }, clock, seededRandom(2)));
  const owner = { email: OWNER, passwordHash: "none", onlyFirst: true } as const;
  await writes.run("organization.set_up", { organizationName: "Acme", networkName: "Main", ...owner }, SYSTEM_AUTHOR);
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

function start(command = [EXECUTABLE]): Promise<CommandResult> {
  return sandbox.run(["serve", "--listen", "127.0.0.1:0", "--data", sandbox.data], { command });
}

/** Every command that opens data refuses, and the directory stays unchanged. */
async function expectRefused(sentence: string, code = 3, command = [EXECUTABLE]): Promise<void> {
  const before = contents();
  expectSentence(await start(command), sentence, code);
  for (const line of ["user list", "key list", `user disable --email ${OWNER}`]) {
    const result = await sandbox.run([...line.split(" "), "--data", sandbox.data], { command });
    expect([line, result.code, result.out]).toEqual([line, code, ""]);
  }
  expect(contents()).toEqual(before);
}

function expectSentence(finished: CommandResult, sentence: string, code = 3): void {
  expect(finished).toEqual({ code, signal: null, out: "", err: `netledger: ${sentence}\n` });
}

/** Name, modification time and bytes of every file; the lock may appear. */
function contents(): unknown[] {
  if (!statSync(sandbox.data).isDirectory()) return [readFileSync(sandbox.data).toString("base64")];
  return readdirSync(sandbox.data)
    .filter((name) => name !== "netledger.lock")
    .sort()
    .map((name) => {
      const path = join(sandbox.data, name);
      return [name, statSync(path).mtimeMs, Bun.hash(readFileSync(path))];
    });
}
