// Backups with the compiled executable: during writes and without an appliance, on a small disk, restored, and
// rejected.

import { Database } from "bun:sqlite";
import { beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  cpSync,
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
import { SCHEMA_VERSION } from "../../src/db/files/migrate.ts";
import type { Client } from "../support/appliance/client.ts";
import { type CommandResult, EXECUTABLE, OWNER, PASSWORD } from "../support/executable/executable.ts";
import { sandboxForEach } from "../support/executable/sandboxes.ts";
import { EARLIER_SCHEMA, toEarlierSchema } from "../support/store/earlier-schema.ts";

const sandbox = sandboxForEach(tmpdir());
let file: string;
let otherFolder: string;
beforeEach(() => {
  file = sandbox.path("copy.db");
  otherFolder = sandbox.path("elsewhere");
});

const WRITERS = 4;
/** Subnets created before the first backup starts, and between two backups. */
const SUBNETS_BETWEEN = 40;

describe("a backup", () => {
  test("contains every acknowledged write, verifies, and ends at the reported head if taken during writes", async () => {
    const { key, networkId, running } = await sandbox.serveSetUp();
    const writers = new Writers(running.withKey(key), networkId);
    const files = [sandbox.path("first.db"), sandbox.path("second.db")];
    for (const path of files) {
      await writers.waitForCreated(writers.names.length + SUBNETS_BETWEEN);
      const acknowledged = [...writers.names];
      const backup = await sandbox.command("backup", path);
      expect([backup.code, backup.err]).toEqual([0, ""]);
      const { sequence, at, hash } = headIn(backup.out);
      expect(companionFiles(path)).toEqual([]);

      const bytes = readFileSync(path);
      const verification = await sandbox.run(["verify", "--backup", path, "--head", `${sequence}:${hash}`]);
      expect([verification.code, verification.err, headIn(verification.out)]).toEqual([0, "", { sequence, at, hash }]);
      expect([readFileSync(path).equals(bytes), companionFiles(path)]).toEqual([true, []]);

      const restoredFolder = sandbox.path(`restored from ${sequence}`);
      const restored = await sandbox.run(["restore", path, "--data", restoredFolder]);
      expect([restored.code, restored.err]).toEqual([0, ""]);
      const verified = await sandbox.run(["verify", "--data", restoredFolder]);
      expect(verified.code).toBe(0);
      expect(headIn(verified.out)).toEqual({ sequence, at, hash });

      const copy = await sandbox.serve(["--read-only", path]);
      const names = await namesIn(copy.withKey(key), "");
      expect(acknowledged.filter((name) => !names.includes(name))).toEqual([]);
      expect(names).toEqual(await namesIn(running.withKey(key), `&at=${at}`));
      await copy.stop();
    }
    await writers.stop();
    expect((await sandbox.command("verify")).code).toBe(0);
  });

  test("runs in a separate thread while reads and writes continue if requested through the API", async () => {
    const { key, networkId, running, client } = await sandbox.serveSetUp();
    const writers = new Writers(client, networkId);
    const started = await client.post("backups", {});
    expect([started.status, started.data.state]).toEqual([200, "Running"]);
    await running.waitForLog("INFO  backup_done");
    await writers.stop();
    const { data } = await client.get(`backups/${started.data.name}`);
    const path = join(sandbox.data, "backups", data.name);
    expect(data).toMatchObject({ state: "Done", size_bytes: statSync(path).size, reason: null });
    expect(statSync(path).mode & 0o777).toBe(0o600);

    await running.stop();
    const restarted = await sandbox.serve();
    expect((await restarted.withKey(key).get("backups")).data).toEqual([data]);
    const restored = await sandbox.run(["restore", path, "--data", otherFolder]);
    expect(headIn(restored.out)).toMatchObject({ sequence: data.sequence, hash: data.hash });
  });

  test("works on the data of a killed appliance", async () => {
    const { key, networkId, running } = await sandbox.serveSetUp();
    const subnet = { network_id: networkId, cidr: "10.0.0.0/24", name: "last words" };
    const created = await running.withKey(key).post("subnets", subnet);
    running.kill("SIGKILL");
    await running.exited;
    expect(statSync(join(sandbox.data, "netledger.db-wal")).size).toBeGreaterThan(0);
    expect((await sandbox.command("backup", file)).code).toBe(0);
    const copy = await sandbox.serve(["--read-only", file]);
    expect((await copy.withKey(key).get(`subnets/${created.data.id}`)).data).toEqual(created.data);
  });

  test("reports that the key file is not included", async () => {
    await sandbox.setUp();
    const backup = await sandbox.command("backup", file);
    expect(backup.out).toContain(`Not included: ${join(sandbox.data, "netledger.key")}`);
    expect(readFileSync(file).includes(readFileSync(join(sandbox.data, "netledger.key")))).toBe(false);
  });

  test("does not overwrite an existing file", async () => {
    await sandbox.setUp();
    writeFileSync(file, "somebody's");
    const result = await sandbox.command("backup", file);
    expect(result).toEqual(refused(1, `${file} already exists: a backup does not overwrite files.`));
    expect(readFileSync(file, "utf8")).toBe("somebody's");
  });

  test("creates nothing if the data or the destination directory is missing", async () => {
    const noData = refused(3, `There is no data in ${sandbox.data}.`);
    expect(await sandbox.command("backup", file)).toEqual(noData);
    await sandbox.setUp();
    const missingPath = sandbox.path("nowhere/copy.db");
    const expectRefusal = async (path: string, problem: string) =>
      expect(await sandbox.command("backup", path)).toEqual(
        refused(2, `FILE ${path} ${problem}; see netledger backup --help`),
      );
    await expectRefusal(missingPath, `cannot be created: there is no folder ${sandbox.path("nowhere")}`);
    expect([existsSync(file), existsSync(sandbox.path("nowhere"))]).toEqual([false, false]);
    writeFileSync(file, "no folder");
    await expectRefusal(join(file, "copy.db"), `cannot be created: ${file} is not a folder`);
    await expectRefusal(sandbox.data, "is a folder: add a file name");
    // The data is not opened if the copy has no destination.
    expect((await sandbox.run(["backup", missingPath, "--data", otherFolder])).code).toBe(2);
  });

  test("is not reported as done for damaged data", async () => {
    await sandbox.setUp();
    tamper(join(sandbox.data, "netledger.db"));
    const result = await sandbox.command("backup", file);
    expect([result.code, result.out]).toEqual([3, ""]);
    expect(result.err).toMatch(
      /^netledger: The copy is damaged and was removed: .*\. Check the data with netledger verify\.\n$/,
    );
    expect(companionFiles(file)).toEqual([]);
  });
});

describe("a disk that is too small", () => {
  test("makes a backup fail with an error and leave no file", async () => {
    await sandbox.setUp();
    const result = await withSizeLimit(200, ["backup", file, "--data", sandbox.data]);
    expect([result.code, result.out]).toEqual([1, ""]);
    expect(result.err).toStartWith("netledger: The disk is full or failing: the unfinished backup was removed. ");
    expect([existsSync(file), companionFiles(file)]).toEqual([false, []]);
    expect((await sandbox.command("verify")).code).toBe(0);
  });

  test("makes a restore leave the data unchanged", async () => {
    await sandbox.setUp();
    await sandbox.command("backup", file);
    const before = contents(sandbox.data);
    const result = await withSizeLimit(200, ["restore", file, "--data", sandbox.data, "--replace"]);
    expect([result.code, result.out]).toEqual([1, ""]);
    expect(result.err).toStartWith(
      `netledger: The disk of ${sandbox.data} is full or failing: the data was not changed. `,
    );
    expect(contents(sandbox.data)).toEqual(before);
  });
});

describe("a restore", () => {
  test("is refused on data in use, and on existing data", async () => {
    await sandbox.setUp();
    await sandbox.command("backup", file);
    const running = await sandbox.serve();
    const inUse = refused(3, `The data in ${sandbox.data} are in use by another netledger: stop it first.`);
    expect(await sandbox.command("restore", file, "--replace")).toEqual(inUse);
    await running.stop();
    const before = contents(sandbox.data);
    const existing = `${sandbox.data} already contains data: --replace replaces it with the backup and keeps the previous data next to it.`;
    expect(await sandbox.command("restore", file)).toEqual(refused(3, existing));
    expect(contents(sandbox.data)).toEqual(before);
  });

  test("keeps the previous data with --replace, including the log, and ends all sessions", async () => {
    const { key, networkId } = await sandbox.setUp();
    await sandbox.command("backup", file);
    const running = await sandbox.serve();
    const signedIn = await running.client().post("/api/auth/login", { email: OWNER, password: PASSWORD });
    const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
    await sandbox.command("backup", sandbox.path("signed in.db"));
    await running.withKey(key).post("subnets", { network_id: networkId, cidr: "10.0.0.0/24", name: "since" });
    running.kill("SIGKILL");
    await running.exited;

    const restored = await sandbox.command("restore", sandbox.path("signed in.db"), "--replace");
    expect([restored.code, restored.err]).toEqual([0, ""]);
    const previousPath = /^The previous data was kept: (.*)$/m.exec(restored.out)?.[1] ?? "";
    const restarted = await sandbox.serve();
    expect((await restarted.client({ cookie }).get("/api/auth/me")).status).toBe(401);
    expect((await restarted.withKey(key).get("subnets")).data).toEqual([]);
    await restarted.stop();

    expect(previousPath).toMatch(/netledger\.db\.before-\d{8}T\d{9}Z$/);
    mkdirSync(otherFolder, { mode: 0o700 });
    for (const name of readdirSync(sandbox.data))
      if (name.includes(".before-"))
        copyFileSync(join(sandbox.data, name), join(otherFolder, name.replace(/\.before-\w+/, "")));
    copyFileSync(join(sandbox.data, "netledger.key"), join(otherFolder, "netledger.key"));
    expect((await sandbox.run(["verify", "--data", otherFolder])).code).toBe(0);
    const backup = await sandbox.run(["backup", sandbox.path("old.db"), "--data", otherFolder]);
    expect(backup.code).toBe(0);
    const copy = await sandbox.serve(["--read-only", sandbox.path("old.db")]);
    expect((await copy.withKey(key).get("subnets")).data).toMatchObject([{ name: "since" }]);
  });

  test("detects tampering when the backup is verified in place", async () => {
    await sandbox.setUp();
    await sandbox.command("backup", file);
    expect((await sandbox.run(["verify", "--backup", file])).code).toBe(0);
    const repair = await sandbox.run(["verify", "--backup", file, "--repair-derived"]);
    expect([repair.code, repair.out]).toEqual([2, ""]);
    expect(repair.err).toContain("--repair-derived is for a data folder");
    tamper(file);
    const verification = await sandbox.run(["verify", "--backup", file]);
    expect(verification.code).toBe(1);
    const missing = await sandbox.run(["verify", "--backup", sandbox.path("nothing.db")]);
    expect(missing.err).toMatch(/There is no file .*nothing\.db\.\n$/);
    const data = await sandbox.run(["verify", "--backup", join(sandbox.data, "netledger.db")]);
    expect([data.code, data.err.includes("is the database of an appliance, not a backup")]).toEqual([3, true]);
  });

  test("invalidates earlier ETags and feed cursors", async () => {
    const { key } = await sandbox.setUp();
    const before = await sandbox.serve();
    const { data: tag } = await before.withKey(key).post("tags", { name: "core", color: "Red" });
    await before.stop();
    await sandbox.command("backup", file);
    const path = `tags/${tag.id}`;
    /** Makes one change. @returns the state afterwards */
    const applyChange = async (color: string) => {
      const running = await sandbox.serve();
      const client = running.withKey(key);
      const written = await client.put(path, { name: "core", color });
      const { feed } = (await client.get("changes")).body.meta;
      return { running, client, etag: written.headers.get("etag") as string, feed };
    };
    const beforeRestore = await applyChange("Blue");
    await beforeRestore.running.stop();
    await sandbox.command("restore", file, "--replace");
    const afterRestore = await applyChange("Green");
    expect(afterRestore.feed.after).toBe(beforeRestore.feed.after);
    expect(afterRestore.etag).not.toBe(beforeRestore.etag);
    const { client } = afterRestore;
    expect((await client.get(path, { "if-none-match": beforeRestore.etag })).status).toBe(200);
    const update = await client.put(path, { name: "core", color: "Blue" }, { "if-match": beforeRestore.etag });
    expect(update.body.code).toBe("precondition_failed");
    for (const [{ feed }, status] of [
      [beforeRestore, 400],
      [afterRestore, 200],
    ] as const)
      expect((await client.get(`changes?after=${feed.after}&mark=${feed.mark}`)).status).toBe(status);
    // The backup's content is unchanged.
    expect((await client.get(`${path}?at=${tag.valid_from}`)).headers.get("etag")).toContain("-ended");
  });

  test("also replaces damaged data", async () => {
    const { key } = await sandbox.setUp();
    await sandbox.command("backup", file);
    const database = join(sandbox.data, "netledger.db");
    writeFileSync(database, Buffer.concat([readFileSync(database).subarray(0, 8_192), Buffer.alloc(100_000, 7)]));
    const restored = await sandbox.command("restore", file, "--replace");
    expect([restored.code, restored.err]).toEqual([0, ""]);
    const running = await sandbox.serve();
    expect((await running.withKey(key).get("networks")).data).toHaveLength(1);
  });

  test.each<[string, (path: string) => void, RegExp]>([
    ["a tampered backup", tamper, /copy\.db is damaged and was not restored: /],
    [
      "a backup with an altered page",
      (path) => overwrite(path, 8_192 * 3, Buffer.alloc(8_192, 0x5a)),
      /copy\.db is damaged/,
    ],
    ["a truncated backup", (path) => truncateSync(path, 200_000), /copy\.db is damaged/],
    [
      "a backup of a newer version",
      (path) => inDatabase(path, (db) => db.run(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`)),
      /copy\.db was written by a newer netledger/,
    ],
    [
      "another program's database",
      (path) => inDatabase(path, (db) => db.run("PRAGMA application_id = 7")),
      /copy\.db belongs to another program\./,
    ],
    [
      "a file that is not a database",
      (path) => writeFileSync(path, "a letter to somebody else\n".repeat(10)),
      /copy\.db is not an SQLite database\./,
    ],
    ["an empty file", (path) => writeFileSync(path, ""), /copy\.db is not a backup: it is empty\./],
    [
      "a backup with a log next to it",
      (path) => writeFileSync(`${path}-wal`, "frames"),
      /copy\.db is incomplete without .*copy\.db-wal\./,
    ],
    ["a missing backup", (path) => rmSync(path), /There is no file .*copy\.db\.\n$/],
  ])("refuses %s, and leaves the directory unchanged", async (_title, damage, message) => {
    await sandbox.setUp();
    await sandbox.command("backup", file);
    damage(file);
    const before = contents(sandbox.data);
    const result = await sandbox.command("restore", file, "--replace");
    expect([result.code, result.out]).toEqual([3, ""]);
    expect(result.err).toMatch(message);
    expect(result.err.trimEnd()).not.toContain("\n");
    expect(contents(sandbox.data)).toEqual(before);
    expect((await sandbox.command("verify")).code).toBe(0);
  });

  test("accepts a database of an older version, and upgrades it", async () => {
    const { key } = await sandbox.setUp();
    copyFileSync(join(sandbox.data, "netledger.db"), file);
    inDatabase(file, toEarlierSchema);
    const result = await sandbox.run(["serve", "--read-only", file, "--listen", "127.0.0.1:0"]);
    expect(result.code).toBe(3);
    expect((await sandbox.run(["restore", file, "--data", otherFolder])).code).toBe(0);
    expect((await sandbox.run(["backup", sandbox.path("new.db"), "--data", otherFolder])).code).toBe(0);
    const running = await sandbox.serve(["--read-only", sandbox.path("new.db")]);
    expect((await running.withKey(key).get("networks?search=main")).data).toHaveLength(1);
  });
});

test("the appliance upgrades data of an older version once at start, and logs it", async () => {
  const { key } = await sandbox.setUp();
  inDatabase(join(sandbox.data, "netledger.db"), toEarlierSchema);
  const running = await sandbox.serve();
  await running.waitForLog("started");
  expect(running.log).toContain(`brought_up_to_date schema_before=${EARLIER_SCHEMA} schema=${SCHEMA_VERSION}`);
  expect((await running.withKey(key).get("networks?search=main")).data).toHaveLength(1);
  await running.stop();
  const restarted = await sandbox.serve();
  await restarted.waitForLog("started");
  expect(restarted.log).not.toContain("brought_up_to_date");
  expect((await sandbox.command("verify")).code).toBe(0);
});

describe("credential secrets", () => {
  /** An appliance with a secret, a backup of it, and the client's key. */
  async function withSecret(): Promise<{ key: string; credentialId: string; body: object }> {
    const { key, organizationId, running } = await sandbox.serveSetUp();
    const body = {
      name: "edge",
      organization_id: organizationId,
      credential_type: { type: "SnmpV2c", community: { mode: "Inline", value: "not to be lost" } },
      assigned_network_ids: [],
      host_assignments: [],
      tags: [],
    };
    const created = await running.withKey(key).post("credentials", body);
    expect(created.status).toBe(200);
    await running.stop();
    expect((await sandbox.command("backup", file)).code).toBe(0);
    return { key, credentialId: created.data.id, body };
  }

  test("require their key file: a restore without it, or with another one, is refused", async () => {
    await withSecret();
    const keyFile = join(otherFolder, "netledger.key");
    const restore = () => sandbox.run(["restore", file, "--data", otherFolder]);
    const refusal = (problem: string) =>
      refused(
        3,
        `The backup holds 1 sealed secret of credentials, and ${problem}: put that appliance's key file there, or use --drop-secrets to restore without them.`,
      );
    expect(await restore()).toEqual(refusal(`there is no key file ${keyFile}`));
    expect(existsSync(otherFolder)).toBe(false);
    mkdirSync(otherFolder, { mode: 0o700 });
    writeFileSync(keyFile, Buffer.alloc(32, 1), { mode: 0o600 });
    expect(await restore()).toEqual(refusal(`the key file ${keyFile} is a different one`));
    chmodSync(keyFile, 0o644);
    expect((await restore()).err).toContain("is open to others (mode 0644)");
    expect(readdirSync(otherFolder)).toEqual(["netledger.key"]);

    cpSync(join(sandbox.data, "netledger.key"), keyFile, { force: true });
    chmodSync(keyFile, 0o600);
    expect((await restore()).code).toBe(0);
  });

  test("are dropped on request; the credential stays and accepts new ones", async () => {
    const { key, credentialId, body } = await withSecret();
    rmSync(sandbox.data, { recursive: true });
    const restored = await sandbox.command("restore", file, "--drop-secrets");
    expect([restored.code, restored.err]).toEqual([0, ""]);
    expect(restored.out).toContain("Dropped: 1 sealed secret of credentials. Enter them again.");
    // Secrets dropped by an operator are not a loss, and nothing sealed remains that would need the key.
    expect((await sandbox.command("verify")).code).toBe(0);
    rmSync(join(sandbox.data, "netledger.key"), { force: true });
    const client = (await sandbox.serve()).withKey(key);
    const path = `credentials/${credentialId}`;
    const masked = (await client.get(path)).data;
    expect((await client.put(path, masked)).body.params.issues[0].message).toContain("none is stored");
    expect((await client.put(path, body)).status).toBe(200);
    expect((await sandbox.command("verify")).code).toBe(0);
  });
});

/** Creates subnets until stopped, over several connections. */
class Writers {
  /** Names of the acknowledged subnets, in response order. */
  readonly names: string[] = [];
  private readonly watchers = new Set<() => void>();
  private readonly loops: Promise<void>[];
  private isStopped = false;
  private next = 0;

  constructor(client: Client, networkId: string) {
    this.loops = Array.from({ length: WRITERS }, async () => {
      while (!this.isStopped) {
        const number = this.next;
        this.next += 1;
        const subnet = { cidr: `10.${number >> 8}.${number & 255}.0/24`, name: `made ${number}` };
        const response = await client.post("subnets", { network_id: networkId, ...subnet });
        expect(response.status).toBe(200);
        this.names.push(response.data.name);
        for (const watcher of [...this.watchers]) watcher();
      }
    });
  }

  /** Waits until this many subnets exist. */
  waitForCreated(count: number): Promise<unknown> {
    const enough = new Promise<void>((resolve) => this.watchers.add(() => this.names.length >= count && resolve()));
    return Promise.race([enough, ...this.loops]);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all(this.loops);
  }
}

async function namesIn(client: Client, query: string): Promise<string[]> {
  const { status, data } = await client.get(`subnets?limit=0${query}`);
  expect(status).toBe(200);
  return data.map(({ name }: { name: string }) => name);
}

function headIn(out: string): { sequence: number; at: string; hash: string } {
  const [, sequence = "", at = "", hash = ""] =
    /^Last transaction: (\d+), at (\S+), hash ([0-9a-f]{64})$/m.exec(out) ?? [];
  return { sequence: Number(sequence), at, hash };
}

function refused(code: number, message: string): CommandResult {
  return { code, signal: null, out: "", err: `netledger: ${message}\n` };
}

/** Files next to a backup that belong to it. */
function companionFiles(path: string): string[] {
  return readdirSync(sandbox.directory).filter((name) =>
    [".", "-"].some((separator) => sandbox.path(name).startsWith(`${path}${separator}`)),
  );
}

/** Runs a command with a file size limit: exceeding it fails like a full disk. */
function withSizeLimit(kib: number, args: readonly string[]): Promise<CommandResult> {
  return sandbox.run(["-c", `trap "" XFSZ; ulimit -f ${kib}; exec "$0" "$@"`, EXECUTABLE, ...args], {
    command: ["bash"],
  });
}

/** Changes one word of history, and the live row with it. */
function tamper(path: string): void {
  const bytes = readFileSync(path);
  for (let index = bytes.indexOf('"name":"Main"'); index >= 0; index = bytes.indexOf('"name":"Main"', index + 1))
    bytes.write('"name":"Mine"', index);
  writeFileSync(path, bytes);
}

function overwrite(path: string, offset: number, bytes: Buffer): void {
  const all = readFileSync(path);
  bytes.copy(all, offset);
  writeFileSync(path, all);
}

function inDatabase(path: string, work: (db: Database) => void): void {
  const db = new Database(path, { readwrite: true });
  try {
    work(db);
  } finally {
    db.close(true);
  }
}

/** Name and bytes of every file; the lock, and SQLite's WAL index, may appear. */
function contents(directory: string): unknown[] {
  return readdirSync(directory)
    .filter((name) => !/\.lock|-shm$/.test(name))
    .filter((name) => !name.endsWith("-wal") || statSync(join(directory, name)).size > 0)
    .sort()
    .map((name) => [name, Bun.hash(readFileSync(join(directory, name)))]);
}
