// Backups of the compiled executable: during writes and without an appliance, on a small disk, restored, and refused.

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
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SCHEMA_VERSION } from "../../src/db/files/migrate.ts";
import type { Client } from "../support/appliance/client.ts";
import { EXECUTABLE, type Finished } from "../support/executable/executable.ts";
import { workplaceForEach } from "../support/executable/workplaces.ts";
import { EARLIER_SCHEMA, toEarlierSchema } from "../support/store/earlier-schema.ts";

const place = workplaceForEach(tmpdir());
let file: string;
let elsewhere: string;
beforeEach(() => {
  file = place.path("copy.db");
  elsewhere = place.path("elsewhere");
});

const WRITERS = 4;
/** Subnets created before the first backup starts, and between two. */
const MADE_BETWEEN = 40;

describe("a backup", () => {
  test("taken during writes contains everything acknowledged before, verifies, and ends with its head", async () => {
    const { key, networkId, running } = await place.serveSetUp();
    const writers = new Writers(running.withKey(key), networkId);
    const files = [place.path("first.db"), place.path("second.db")];
    for (const each of files) {
      await writers.made(writers.names.length + MADE_BETWEEN);
      const acknowledged = [...writers.names];
      const taken = await place.command("backup", each);
      expect([taken.code, taken.err]).toEqual([0, ""]);
      const { sequence, at, hash } = headIn(taken.out);
      expect(beside(each)).toEqual([]);

      const bytes = readFileSync(each);
      const proven = await place.run(["verify", "--backup", each, "--head", `${sequence}:${hash}`]);
      expect([proven.code, proven.err, headIn(proven.out)]).toEqual([0, "", { sequence, at, hash }]);
      expect([readFileSync(each).equals(bytes), beside(each)]).toEqual([true, []]);

      const whole = place.path(`restored from ${sequence}`);
      const restored = await place.run(["restore", each, "--data", whole]);
      expect([restored.code, restored.err]).toEqual([0, ""]);
      const verified = await place.run(["verify", "--data", whole]);
      expect(verified.code).toBe(0);
      expect(headIn(verified.out)).toEqual({ sequence, at, hash });

      const copy = await place.serve(["--read-only", each]);
      const names = await namesIn(copy.withKey(key), "");
      expect(acknowledged.filter((name) => !names.includes(name))).toEqual([]);
      expect(names).toEqual(await namesIn(running.withKey(key), `&at=${at}`));
      await copy.stop();
    }
    await writers.stop();
    expect((await place.command("verify")).code).toBe(0);
  });

  test("requested through the API is taken by a separate thread, while reads and writes continue", async () => {
    const { key, networkId, running, client } = await place.serveSetUp();
    const writers = new Writers(client, networkId);
    const started = await client.post("backups", {});
    expect([started.status, started.data.state]).toEqual([200, "Running"]);
    await running.logged("INFO  backup_done");
    await writers.stop();
    const { data } = await client.get(`backups/${started.data.name}`);
    const path = join(place.data, "backups", data.name);
    expect(data).toMatchObject({ state: "Done", size_bytes: statSync(path).size, reason: null });
    expect(statSync(path).mode & 0o777).toBe(0o600);

    await running.stop();
    const again = await place.serve();
    expect((await again.withKey(key).get("backups")).data).toEqual([data]);
    expect(headIn((await place.run(["restore", path, "--data", elsewhere])).out)).toMatchObject({
      sequence: data.sequence,
      hash: data.hash,
    });
  });

  test("can be taken of data left by a killed appliance", async () => {
    const { key, networkId, running } = await place.serveSetUp();
    const made = await running
      .withKey(key)
      .post("subnets", { network_id: networkId, cidr: "10.0.0.0/24", name: "last words" });
    running.kill("SIGKILL");
    await running.exited;
    expect(statSync(join(place.data, "netledger.db-wal")).size).toBeGreaterThan(0);
    expect((await place.command("backup", file)).code).toBe(0);
    const copy = await place.serve(["--read-only", file]);
    expect((await copy.withKey(key).get(`subnets/${made.data.id}`)).data).toEqual(made.data);
  });

  test("reports that the key file is not included", async () => {
    await place.setUp();
    const taken = await place.command("backup", file);
    expect(taken.out).toContain(`Not included: ${join(place.data, "netledger.key")}`);
    expect(readFileSync(file).includes(readFileSync(join(place.data, "netledger.key")))).toBe(false);
  });

  test("replaces no file", async () => {
    await place.setUp();
    writeFileSync(file, "somebody's");
    const refused = await place.command("backup", file);
    expect(refused).toEqual({
      code: 1,
      signal: null,
      out: "",
      err: `netledger: ${file} already exists: a backup does not overwrite files.\n`,
    });
    expect(readFileSync(file, "utf8")).toBe("somebody's");
  });

  test("of missing data, or to a missing folder, creates nothing", async () => {
    expect(await place.command("backup", file)).toMatchObject({
      code: 3,
      out: "",
      err: `netledger: There are no data in ${place.data}.\n`,
    });
    await place.setUp();
    const nowhere = place.path("nowhere/copy.db");
    const refusal = (problem: string) => ({
      code: 2,
      out: "",
      err: `netledger: FILE ${problem}; see netledger backup --help\n`,
    });
    expect(await place.command("backup", nowhere)).toMatchObject(
      refusal(`${nowhere} cannot be created: there is no folder ${place.path("nowhere")}`),
    );
    expect([existsSync(file), existsSync(place.path("nowhere"))]).toEqual([false, false]);
    writeFileSync(file, "no folder");
    expect(await place.command("backup", join(file, "copy.db"))).toMatchObject(
      refusal(`${join(file, "copy.db")} cannot be created: ${file} is not a folder`),
    );
    expect(await place.command("backup", place.data)).toMatchObject(
      refusal(`${place.data} is a folder: add a file name`),
    );
    // The data is not opened if the copy has no destination.
    expect((await place.run(["backup", nowhere, "--data", elsewhere])).code).toBe(2);
  });

  test("of damaged data is not reported as done", async () => {
    await place.setUp();
    tamper(join(place.data, "netledger.db"));
    const refused = await place.command("backup", file);
    expect([refused.code, refused.out]).toEqual([3, ""]);
    expect(refused.err).toMatch(
      /^netledger: The copy is damaged and was removed: .*\. Check the data with netledger verify\.\n$/,
    );
    expect(beside(file)).toEqual([]);
  });
});

describe("on a disk that is too small", () => {
  test("a backup leaves no file, and reports it", async () => {
    await place.setUp();
    const refused = await withinKib(200, ["backup", file, "--data", place.data]);
    expect([refused.code, refused.out]).toEqual([1, ""]);
    expect(refused.err).toStartWith("netledger: The disk is full or fails: the unfinished backup was removed. ");
    expect([existsSync(file), beside(file)]).toEqual([false, []]);
    expect((await place.command("verify")).code).toBe(0);
  });

  test("a restore leaves the data unchanged", async () => {
    await place.setUp();
    await place.command("backup", file);
    const before = contents(place.data);
    const refused = await withinKib(200, ["restore", file, "--data", place.data, "--replace"]);
    expect([refused.code, refused.out]).toEqual([1, ""]);
    expect(refused.err).toStartWith(
      `netledger: The disk of ${place.data} is full or fails: the data were not changed. `,
    );
    expect(contents(place.data)).toEqual(before);
  });
});

describe("a restore", () => {
  test("is refused on data in use, and on existing data", async () => {
    await place.setUp();
    await place.command("backup", file);
    const running = await place.serve();
    const inUse = await place.command("restore", file, "--replace");
    expect(inUse).toEqual({
      code: 3,
      signal: null,
      out: "",
      err: `netledger: The data in ${place.data} are in use by another netledger: stop it first.\n`,
    });
    await running.stop();
    const before = contents(place.data);
    const there = await place.command("restore", file);
    expect(there).toEqual({
      code: 3,
      signal: null,
      out: "",
      err: `netledger: There are already data in ${place.data}: --replace replaces them with the backup and keeps the old ones next to it.\n`,
    });
    expect(contents(place.data)).toEqual(before);
  });

  test("with --replace keeps the former data, log included, and ends all sessions", async () => {
    const { key, networkId } = await place.setUp();
    await place.command("backup", file);
    const running = await place.serve();
    const signedIn = await running
      .client()
      .post("/api/auth/login", { email: "owner@acme.example", password: "correct horse battery" });
    const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
    await place.command("backup", place.path("signed in.db"));
    await running.withKey(key).post("subnets", { network_id: networkId, cidr: "10.0.0.0/24", name: "since" });
    running.kill("SIGKILL");
    await running.exited;

    const restored = await place.command("restore", place.path("signed in.db"), "--replace");
    expect([restored.code, restored.err]).toEqual([0, ""]);
    const kept = /^The old data are kept: (.*)$/m.exec(restored.out)?.[1] ?? "";
    const again = await place.serve();
    expect((await again.client({ cookie }).get("/api/auth/me")).status).toBe(401);
    expect((await again.withKey(key).get("subnets")).data).toEqual([]);
    await again.stop();

    expect(kept).toMatch(/netledger\.db\.before-\d{8}T\d{9}Z$/);
    mkdirSync(elsewhere, { mode: 0o700 });
    for (const name of readdirSync(place.data))
      if (name.includes(".before-"))
        copyFileSync(join(place.data, name), join(elsewhere, name.replace(/\.before-\w+/, "")));
    copyFileSync(join(place.data, "netledger.key"), join(elsewhere, "netledger.key"));
    expect((await place.run(["verify", "--data", elsewhere])).code).toBe(0);
    const backup = await place.run(["backup", place.path("old.db"), "--data", elsewhere]);
    expect(backup.code).toBe(0);
    const copy = await place.serve(["--read-only", place.path("old.db")]);
    expect((await copy.withKey(key).get("subnets")).data).toMatchObject([{ name: "since" }]);
  });

  test("is verified in place, and tampering is detected", async () => {
    await place.setUp();
    await place.command("backup", file);
    expect((await place.run(["verify", "--backup", file])).code).toBe(0);
    const repair = await place.run(["verify", "--backup", file, "--repair-derived"]);
    expect([repair.code, repair.out]).toEqual([2, ""]);
    expect(repair.err).toContain("--repair-derived is for a data folder");
    tamper(file);
    const found = await place.run(["verify", "--backup", file]);
    expect(found.code).toBe(1);
    expect((await place.run(["verify", "--backup", place.path("nothing.db")])).err).toMatch(
      /There is no file .*nothing\.db\.\n$/,
    );
    const data = await place.run(["verify", "--backup", join(place.data, "netledger.db")]);
    expect([data.code, data.err.includes("is the database of an appliance, not a backup")]).toEqual([3, true]);
  });

  test("creates distinct data: earlier ETags and feed cursors are not accepted", async () => {
    const { key } = await place.setUp();
    const before = await place.serve();
    const { data: tag } = await before.withKey(key).post("tags", { name: "core", color: "Red" });
    await before.stop();
    await place.command("backup", file);
    const path = `tags/${tag.id}`;
    /** Makes one change. @returns its known state afterwards */
    const changed = async (color: string) => {
      const running = await place.serve();
      const client = running.withKey(key);
      const written = await client.put(path, { name: "core", color });
      const { feed } = (await client.get("changes")).body.meta;
      return { running, client, etag: written.headers.get("etag") as string, feed };
    };
    const lost = await changed("Blue");
    await lost.running.stop();
    await place.command("restore", file, "--replace");
    const now = await changed("Green");
    expect(now.feed.after).toBe(lost.feed.after);
    expect(now.etag).not.toBe(lost.etag);
    expect((await now.client.get(path, { "if-none-match": lost.etag })).status).toBe(200);
    expect((await now.client.put(path, { name: "core", color: "Blue" }, { "if-match": lost.etag })).body.code).toBe(
      "precondition_failed",
    );
    expect((await now.client.get(`changes?after=${lost.feed.after}&mark=${lost.feed.mark}`)).status).toBe(400);
    expect((await now.client.get(`changes?after=${now.feed.after}&mark=${now.feed.mark}`)).status).toBe(200);
    // The backup's content is unchanged.
    expect((await now.client.get(`${path}?at=${tag.valid_from}`)).headers.get("etag")).toContain("-ended");
  });

  test("also replaces damaged data", async () => {
    const { key } = await place.setUp();
    await place.command("backup", file);
    const database = join(place.data, "netledger.db");
    writeFileSync(database, Buffer.concat([readFileSync(database).subarray(0, 8_192), Buffer.alloc(100_000, 7)]));
    const restored = await place.command("restore", file, "--replace");
    expect([restored.code, restored.err]).toEqual([0, ""]);
    const running = await place.serve();
    expect((await running.withKey(key).get("networks")).data).toHaveLength(1);
  });

  test.each<[string, (path: string) => void, RegExp]>([
    ["a tampered backup", tamper, /copy\.db is damaged and was not restored: /],
    [
      "a backup with an altered page",
      (path) => overwrite(path, 8_192 * 3, Buffer.alloc(8_192, 0x5a)),
      /copy\.db is damaged/,
    ],
    [
      "a truncated backup",
      (path) => writeFileSync(path, readFileSync(path).subarray(0, 200_000)),
      /copy\.db is damaged/,
    ],
    [
      "a backup of a newer version",
      (path) => inDatabase(path, (db) => db.run(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`)),
      /copy\.db was written by a newer netledger/,
    ],
    [
      "another program's database",
      (path) => inDatabase(path, (db) => db.run("PRAGMA application_id = 7")),
      /copy\.db is a database of another program\./,
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
      /copy\.db is incomplete: .*copy\.db-wal belongs to it\./,
    ],
    ["a missing backup", (path) => rmSync(path), /There is no file .*copy\.db\.\n$/],
  ])("refuses %s, and leaves the folder unchanged", async (_title, spoil, message) => {
    await place.setUp();
    await place.command("backup", file);
    spoil(file);
    const before = contents(place.data);
    const refused = await place.command("restore", file, "--replace");
    expect([refused.code, refused.out]).toEqual([3, ""]);
    expect(refused.err).toMatch(message);
    expect(refused.err.trimEnd()).not.toContain("\n");
    expect(contents(place.data)).toEqual(before);
    expect((await place.command("verify")).code).toBe(0);
  });

  test("accepts a database of an older version, and upgrades it", async () => {
    const { key } = await place.setUp();
    copyFileSync(join(place.data, "netledger.db"), file);
    inDatabase(file, toEarlierSchema);
    const refused = await place.run(["serve", "--read-only", file, "--listen", "127.0.0.1:0"]);
    expect(refused.code).toBe(3);
    expect((await place.run(["restore", file, "--data", elsewhere])).code).toBe(0);
    expect((await place.run(["backup", place.path("new.db"), "--data", elsewhere])).code).toBe(0);
    const running = await place.serve(["--read-only", place.path("new.db")]);
    expect((await running.withKey(key).get("networks?search=main")).data).toHaveLength(1);
  });
});

test("a start upgrades data of an older version once, and logs it", async () => {
  const { key } = await place.setUp();
  inDatabase(join(place.data, "netledger.db"), toEarlierSchema);
  const running = await place.serve();
  await running.logged("started");
  expect(running.log).toContain(`brought_up_to_date schema_before=${EARLIER_SCHEMA} schema=${SCHEMA_VERSION}`);
  expect((await running.withKey(key).get("networks?search=main")).data).toHaveLength(1);
  await running.stop();
  const again = await place.serve();
  await again.logged("started");
  expect(again.log).not.toContain("brought_up_to_date");
  expect((await place.command("verify")).code).toBe(0);
});

describe("credential secrets", () => {
  /** An appliance with a secret, a backup of it, and the client's key. */
  async function withSecret(): Promise<{ key: string; credentialId: string; body: object }> {
    const { key, organizationId, running } = await place.serveSetUp();
    const body = {
      name: "edge",
      organization_id: organizationId,
      credential_type: { type: "SnmpV2c", community: { mode: "Inline", value: "not to be lost" } },
      assigned_network_ids: [],
      host_assignments: [],
      tags: [],
    };
    const made = await running.withKey(key).post("credentials", body);
    expect(made.status).toBe(200);
    await running.stop();
    expect((await place.command("backup", file)).code).toBe(0);
    return { key, credentialId: made.data.id, body };
  }

  test("require their key file: without it, or with another one, the restore is refused", async () => {
    await withSecret();
    const keyFile = join(elsewhere, "netledger.key");
    const refusal = (problem: string) => ({
      code: 3,
      signal: null,
      out: "",
      err: `netledger: The backup holds 1 sealed secret of credentials, and ${problem}: put that appliance's key file there, or give --drop-secrets to restore without them.\n`,
    });
    expect(await place.run(["restore", file, "--data", elsewhere])).toEqual(refusal(`there is no key file ${keyFile}`));
    expect(existsSync(elsewhere)).toBe(false);
    mkdirSync(elsewhere, { mode: 0o700 });
    writeFileSync(keyFile, Buffer.alloc(32, 1), { mode: 0o600 });
    expect(await place.run(["restore", file, "--data", elsewhere])).toEqual(
      refusal(`the key file ${keyFile} is a different one`),
    );
    chmodSync(keyFile, 0o644);
    expect((await place.run(["restore", file, "--data", elsewhere])).err).toContain("is open to others (mode 0644)");
    expect(readdirSync(elsewhere)).toEqual(["netledger.key"]);

    cpSync(join(place.data, "netledger.key"), keyFile, { force: true });
    chmodSync(keyFile, 0o600);
    expect((await place.run(["restore", file, "--data", elsewhere])).code).toBe(0);
  });

  test("are dropped on request; the credential stays and accepts new ones", async () => {
    const { key, credentialId, body } = await withSecret();
    rmSync(place.data, { recursive: true });
    const restored = await place.command("restore", file, "--drop-secrets");
    expect([restored.code, restored.err]).toEqual([0, ""]);
    expect(restored.out).toContain("Dropped: 1 sealed secret of credentials. Enter them again.");
    // Secrets dropped by an operator are not a loss, and nothing sealed remains that would need the key.
    expect((await place.command("verify")).code).toBe(0);
    rmSync(join(place.data, "netledger.key"), { force: true });
    const client = (await place.serve()).withKey(key);
    const path = `credentials/${credentialId}`;
    const masked = (await client.get(path)).data;
    expect((await client.put(path, masked)).body.params.issues[0].message).toContain("none is stored");
    expect((await client.put(path, body)).status).toBe(200);
    expect((await place.command("verify")).code).toBe(0);
  });
});

/** Creates subnets until stopped, over several connections. */
class Writers {
  /** Names of the acknowledged ones, in answer order. */
  readonly names: string[] = [];
  private readonly watchers = new Set<() => void>();
  private readonly loops: Promise<void>[];
  private isStopped = false;
  private next = 0;

  constructor(client: Client, networkId: string) {
    this.loops = Array.from({ length: WRITERS }, async () => {
      while (!this.isStopped) {
        const mine = this.next;
        this.next += 1;
        const answer = await client.post("subnets", {
          network_id: networkId,
          cidr: `10.${mine >> 8}.${mine & 255}.0/24`,
          name: `made ${mine}`,
        });
        expect(answer.status).toBe(200);
        this.names.push(answer.data.name);
        for (const watcher of [...this.watchers]) watcher();
      }
    });
  }

  /** Waits until this many are created. */
  made(count: number): Promise<unknown> {
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
  return data.map((each: { name: string }) => each.name);
}

function headIn(out: string): { sequence: number; at: string; hash: string } {
  const [, sequence = "", at = "", hash = ""] =
    /^Last transaction: (\d+), at (\S+), hash ([0-9a-f]{64})$/m.exec(out) ?? [];
  return { sequence: Number(sequence), at, hash };
}

/** Files that belong to a backup and are next to it. */
function beside(path: string): string[] {
  return readdirSync(place.directory).filter(
    (name) => join(place.directory, name).startsWith(`${path}.`) || join(place.directory, name).startsWith(`${path}-`),
  );
}

/** Runs a command with a file size limit: exceeding it fails like a full disk. */
function withinKib(kib: number, args: readonly string[]): Promise<Finished> {
  return place.run(["-c", `trap "" XFSZ; ulimit -f ${kib}; exec "$0" "$@"`, EXECUTABLE, ...args], {
    command: ["bash"],
  });
}

/** Changes one word of history, and the live row with it. */
function tamper(path: string): void {
  const bytes = readFileSync(path);
  for (let at = bytes.indexOf('"name":"Main"'); at >= 0; at = bytes.indexOf('"name":"Main"', at + 1))
    bytes.write('"name":"Mine"', at);
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
    .filter(
      (name) =>
        !name.includes(".lock") &&
        !name.endsWith("-shm") &&
        !(name.endsWith("-wal") && statSync(join(directory, name)).size === 0),
    )
    .sort()
    .map((name) => [name, Bun.hash(readFileSync(join(directory, name)))]);
}
