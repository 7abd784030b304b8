// Backups through the API: permissions, responses during and after a backup, and failures. The copy is real.

import { Database } from "bun:sqlite";
import { beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { BackupFolder, type BackupFolderOptions } from "../../src/backup/backups.ts";
import type { BackupRequest } from "../../src/backup/job.ts";
import { type TakenBackup, takeBackup } from "../../src/backup/take.ts";
import { createLog } from "../../src/base/log.ts";
import { PASSWORD } from "../support/appliance/appliance.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { refusal } from "../support/appliance/factories.ts";
import { makePipe } from "../support/executable/special-files.ts";

const PATH = "backups";

const appliance = applianceForEach();
const { anonymous, clock, first, givePassword, newApiKey, newTag, newUser, owner, signedIn } = appliance;
const { renew } = appliance;

/** Jobs that wait until released. */
class HeldJobs {
  readonly requests: BackupRequest[] = [];
  private readonly release: Array<() => void> = [];

  readonly take = (request: BackupRequest) => {
    this.requests.push(request);
    const held = new Promise<void>((resolve) => this.release.push(resolve));
    return { taken: held.then(() => takeBackup(request)), abandon: () => {} };
  };

  releaseAll(): void {
    for (const resolve of this.release.splice(0)) resolve();
  }
}

/** Polls until the backup is complete: every request lets the copy continue. */
async function waitUntilDone(client: Client, name: string): Promise<Record<string, unknown>> {
  for (;;) {
    const { data } = await client.get(`${PATH}/${name}`);
    if (data.state !== "Running") return data;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The backup directory as seen by the next start. */
function restartedFolder(options: Partial<BackupFolderOptions> = {}): BackupFolder {
  return new BackupFolder({
    directory: folder(),
    database: appliance.databasePath,
    takeBackup: () => ({ taken: Promise.reject(), abandon: () => {} }),
    clock,
    log: createLog({ write: () => {}, format: "text", clock }),
    ...options,
  });
}

function folder(): string {
  return join(appliance.dataDirectory, "backups");
}

describe("a backup request", () => {
  test("is refused when the directory cannot be created, leaving nothing in progress", async () => {
    // A directory can't exist below a file.
    await renew({ backups: { directory: join(import.meta.path, "backups") } });
    const refused = await owner.post(PATH, {});
    expect([refused.status, refused.body.code]).toEqual([507, "storage_full"]);
    expect((await owner.get(PATH)).data).toEqual([]);
  });

  test("is reported immediately as in progress, and later with its contents", async () => {
    const jobs = new HeldJobs();
    await renew({ backups: { takeBackup: jobs.take } });
    const started = await owner.post(PATH, {});
    const name = "netledger-20261121T090001000Z.db";
    expect(started.data).toEqual({
      name,
      state: "Running",
      created_at: "2026-11-21T09:00:01.000Z",
      size_bytes: null,
      sequence: null,
      hash: null,
      reason: null,
    });
    expect((await owner.get(PATH)).data).toEqual([started.data]);
    expect((await owner.get(`${PATH}/${name}`)).data).toEqual(started.data);

    await newTag();
    const head = appliance.reader.head();
    jobs.releaseAll();
    const done = await waitUntilDone(owner, name);
    const file = join(folder(), name);
    const hash = Buffer.from(
      appliance.reader
        .statement("SELECT hash FROM history_transactions ORDER BY sequence DESC LIMIT 1")
        .values()[0]?.[0] as Uint8Array,
    ).toString("hex");
    expect(done).toEqual({
      ...started.data,
      state: "Done",
      size_bytes: statSync(file).size,
      sequence: head.sequence,
      hash,
    });
    expect([statSync(file).mode & 0o777, statSync(folder()).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(readdirSync(folder())).toEqual([name]);
  });

  test("stays in progress until its name is durable, even once the file is renamed", async () => {
    const { promise: synced, resolve: sync } = Promise.withResolvers<void>();
    const { promise: named, resolve: name } = Promise.withResolvers<void>();
    const take = async (request: BackupRequest) => {
      const taken = await takeBackup(request);
      name();
      await synced;
      return taken;
    };
    await renew({ backups: { takeBackup: (request) => ({ taken: take(request), abandon: () => {} }) } });
    const { data: started } = await owner.post(PATH, {});
    await named;
    expect(readdirSync(folder())).toEqual([started.name]);
    expect((await owner.get(PATH)).data).toEqual([started]);
    expect((await owner.get(`${PATH}/${started.name}`)).data).toEqual(started);
    sync();
    expect((await waitUntilDone(owner, started.name)).state).toBe("Done");
  });

  test("writes nothing to the ledger", async () => {
    const before = appliance.reader.head().sequence;
    const { data } = await owner.post(PATH, {});
    expect((await waitUntilDone(owner, data.name)).sequence).toBe(before);
    expect(appliance.reader.head().sequence).toBe(before);
  });

  test("is refused while another one is in progress", async () => {
    const jobs = new HeldJobs();
    await renew({ backups: { takeBackup: jobs.take } });
    const { data } = await owner.post(PATH, {});
    const refused = await owner.post(PATH, {});
    expect([refused.status, refused.body.code, refused.body.error]).toEqual([
      409,
      "entity_already_exists",
      `A backup is already running: ${data.name}.`,
    ]);
    jobs.releaseAll();
    await waitUntilDone(owner, data.name);
    clock.advance(1);
    const second = await owner.post(PATH, {});
    expect([second.status, second.data.state]).toEqual([200, "Running"]);
    jobs.releaseAll();
    await waitUntilDone(owner, second.data.name);
    expect((await owner.get(PATH)).data.map((backup: { name: string }) => backup.name)).toEqual([
      data.name,
      second.data.name,
    ]);
  });

  test("is refused immediately when disk space is clearly insufficient", async () => {
    await renew({ backups: { freeBytes: () => 4_096 } });
    const refused = await owner.post(PATH, {});
    expect([refused.status, refused.body.code]).toEqual([507, "storage_full"]);
    expect(refused.body.error).toMatch(/^There is not enough space on the disk: a copy takes .* and 5 kB are free\.$/);
    expect((await owner.get(PATH)).data).toEqual([]);
    expect(readdirSync(folder())).toEqual([]);
  });

  test("accepts neither a name nor a path", async () => {
    for (const body of [{ name: "x" }, { file: "/tmp/x" }, { path: "../x" }]) {
      expect((await owner.post(PATH, body)).body.code).toBe("validation_failed");
    }
    for (const name of ["..%2Fnetledger.db", "..%2F..%2Fetc%2Fpasswd", "netledger.db"]) {
      const refused = await owner.get(`${PATH}/${name}`);
      expect([refused.status, refused.body.code]).toEqual([404, "entity_not_found"]);
    }
  });

  test("gets another name if repeated in the same millisecond", async () => {
    const names: string[] = [];
    for (let round = 0; round < 2; round += 1) {
      const { data } = await owner.post(PATH, {});
      await waitUntilDone(owner, data.name);
      names.push(data.name);
    }
    expect(names).toEqual(["netledger-20261121T090001000Z.db", "netledger-20261121T090001001Z.db"]);
  });

  test("gets another name at the timestamp of an earlier run's backup, regardless of that backup's outcome", async () => {
    const { data } = await owner.post(PATH, {});
    expect((await waitUntilDone(owner, data.name)).state).toBe("Done");
    writeFileSync(join(folder(), "netledger-20261121T090001001Z.db.partial"), "half");
    const next = restartedFolder();
    expect(next.list().map(({ name, state }) => [name, state])).toEqual([
      [data.name, "Done"],
      ["netledger-20261121T090001001Z.db", "Failed"],
    ]);
    // And a concurrent manual backup.
    writeFileSync(join(folder(), "netledger-20261121T090001002Z.db.partial"), "half");
    expect([next.newName(), next.newName()]).toEqual([
      "netledger-20261121T090001003Z.db",
      "netledger-20261121T090001004Z.db",
    ]);
  });

  test("returns the same backup when repeated with its Idempotency-Key, without taking another", async () => {
    const jobs = new HeldJobs();
    await renew({ backups: { takeBackup: jobs.take } });
    const header = { "idempotency-key": "nightly" };
    const first = await owner.post(PATH, {}, header);
    const repeated = await owner.post(PATH, {}, header);
    expect([repeated.status, repeated.data, repeated.headers.get("idempotency-replayed")]).toEqual([
      200,
      first.data,
      "true",
    ]);
    expect(first.headers.get("idempotency-replayed")).toBeNull();
    jobs.releaseAll();
    const done = await waitUntilDone(owner, first.data.name);
    expect((await owner.post(PATH, {}, header)).data).toEqual(done);
    expect(jobs.requests).toHaveLength(1);
  });

  test("is executed when repeated with the Idempotency-Key of a rejected request", async () => {
    const jobs = new HeldJobs();
    await renew({ backups: { takeBackup: jobs.take } });
    const { data } = await owner.post(PATH, {});
    expect((await owner.post(PATH, {}, { "idempotency-key": "nightly" })).status).toBe(409);
    jobs.releaseAll();
    await waitUntilDone(owner, data.name);
    const taken = await owner.post(PATH, {}, { "idempotency-key": "nightly" });
    expect([taken.status, taken.data.state, taken.headers.get("idempotency-replayed")]).toEqual([200, "Running", null]);
    jobs.releaseAll();
    await waitUntilDone(owner, taken.data.name);
  });
});

describe("a failing backup", () => {
  test("states its reason, leaves no file and does not block the next one", async () => {
    let isFull = true;
    const fill = async (request: BackupRequest): Promise<TakenBackup> =>
      isFull ? takeBackup({ ...request, freeBytes: () => 0 }) : takeBackup(request);
    await renew({ backups: { takeBackup: (request) => ({ taken: fill(request), abandon: () => {} }) } });
    const { data } = await owner.post(PATH, {});
    const failed = await waitUntilDone(owner, data.name);
    expect(failed).toMatchObject({ state: "Failed", size_bytes: null, sequence: null });
    expect(failed.reason).toMatch(/not enough space/);
    expect(readdirSync(folder())).toEqual([]);

    isFull = false;
    clock.advance(1);
    const next = await owner.post(PATH, {});
    expect((await waitUntilDone(owner, next.data.name)).state).toBe("Done");
    expect((await owner.get(PATH)).data.map((backup: { state: string }) => backup.state)).toEqual(["Failed", "Done"]);
  });

  test("leaves no file, and is reported once, if its name cannot be made durable", async () => {
    const fails = () => {
      throw Object.assign(new Error("EIO: i/o error, fsync"), { code: "EIO" });
    };
    await renew({
      backups: {
        takeBackup: (request) => ({ taken: takeBackup({ ...request, syncNames: fails }), abandon: () => {} }),
      },
    });
    const { data: started } = await owner.post(PATH, {});
    const failed = await waitUntilDone(owner, started.name);
    expect(failed).toMatchObject({
      state: "Failed",
      reason: "The disk is full or failing: the unfinished backup was removed.",
    });
    expect((await owner.get(PATH)).data).toEqual([failed]);
    expect(readdirSync(folder())).toEqual([]);
  });

  test("reveals no details of an internal error to the caller", async () => {
    await renew({
      backups: {
        takeBackup: () => ({ taken: Promise.reject(new Error("a secret of the inside")), abandon: () => {} }),
      },
    });
    const { data } = await owner.post(PATH, {});
    expect((await waitUntilDone(owner, data.name)).reason).toBe(
      "Something went wrong inside the appliance; see its log.",
    );
    expect(appliance.logLines.join("\n")).toContain("a secret of the inside");
  });

  test("reports damaged data and its location", async () => {
    const tag = await newTag();
    const db = new Database(appliance.databasePath);
    db.run("UPDATE tags SET members = replace(members, '\"color\"', '\"colour\"')");
    db.close();
    const { data } = await owner.post(PATH, {});
    const failed = await waitUntilDone(owner, data.name);
    expect(failed.state).toBe("Failed");
    expect(failed.reason).toContain(`live: tag ${tag.id}`);
    expect(readdirSync(folder())).toEqual([]);
  });

  test("reports missing triggers of a ledger without its guards", async () => {
    const db = new Database(appliance.databasePath);
    db.run("DROP TRIGGER history_versions_are_never_deleted");
    db.close();
    const { data } = await owner.post(PATH, {});
    expect(await waitUntilDone(owner, data.name)).toMatchObject({
      state: "Failed",
      reason: expect.stringContaining(
        "schema: trigger history_versions_are_never_deleted, on history_versions: is missing",
      ),
    });
  });

  test("is reported after the next start, and its file removed, if a shutdown interrupted it", async () => {
    mkdirSync(folder());
    const name = "netledger-20261120T000000000Z.db";
    for (const leftover of [`${name}.partial`, `${name}.partial-journal`, "theirs.db.partial"])
      writeFileSync(join(folder(), leftover), "half");
    const next = restartedFolder();
    expect(next.list()).toEqual([
      {
        name,
        state: "Failed",
        created_at: "2026-11-20T00:00:00.000Z",
        size_bytes: null,
        sequence: null,
        hash: null,
        reason: "The appliance stopped before the backup was complete.",
      },
    ]);
    expect(readdirSync(folder())).toEqual(["theirs.db.partial"]);
  });
});

describe("the list of backups", () => {
  test("shows the current state of a file, even if it was unreadable before", async () => {
    const { data: started } = await owner.post(PATH, {});
    const done = await waitUntilDone(owner, started.name);
    const file = join(folder(), started.name);
    const original = readFileSync(file);
    const create = (bytes: Uint8Array) => {
      writeFileSync(file, bytes);
      utimesSync(file, 1, 1);
    };
    create(new Uint8Array(original.length));
    expect((await owner.get(`${PATH}/${started.name}`)).data.state).toBe("Failed");
    create(original);
    expect((await owner.get(`${PATH}/${started.name}`)).data).toEqual(done);
  });

  test("lists the directory's contents in pages, regardless of their origin", async () => {
    for (let round = 0; round < 3; round += 1) {
      const { data } = await owner.post(PATH, {});
      await waitUntilDone(owner, data.name);
    }
    writeFileSync(join(folder(), "netledger-20261121T090001001Z.db"), "no longer a database ".repeat(10));
    writeFileSync(join(folder(), "notes.txt"), "theirs");
    const { data, body } = await owner.get(`${PATH}?limit=2&offset=1`);
    expect(data.map((backup: { state: string }) => backup.state)).toEqual(["Failed", "Done"]);
    expect(data[0].reason).toMatch(/^netledger-20261121T090001001Z\.db is damaged/);
    expect(body.meta.pagination).toEqual({ total_count: 3, limit: 2, offset: 1, has_more: false });
    expect((await owner.get(`${PATH}?limit=0`)).data).toHaveLength(3);
  });
});

describe("an entry with a backup's name that is not a regular file", () => {
  const IMPOSTOR = "netledger-20261121T090001000Z.db";
  const TARGET = "netledger-20261121T090001001Z.db";
  /** Link to an empty regular file. */
  const otherFile = () => {
    const file = join(appliance.dataDirectory, "elsewhere.db");
    writeFileSync(file, "");
    return file;
  };
  const IMPOSTORS: ReadonlyArray<[string, (path: string) => unknown]> = [
    ["a dangling link", (path) => symlinkSync("/nowhere/at/all", path)],
    ["a link to itself", (path) => symlinkSync(path, path)],
    ["a link to a file", (path) => symlinkSync(otherFile(), path)],
    ["a named pipe", makePipe],
    ["a directory", (path) => mkdirSync(path)],
  ];

  test.each(IMPOSTORS)("is not listed, read or deleted: %s", async (_, create) => {
    mkdirSync(folder());
    create(join(folder(), IMPOSTOR));
    const listed = await owner.get(PATH);
    expect([listed.status, listed.data]).toEqual([200, []]);
    expect((await owner.get("appliance")).status).toBe(200);
    expect((await owner.get(`${PATH}/${IMPOSTOR}`)).body.code).toBe("entity_not_found");
    expect((await owner.delete(`${PATH}/${IMPOSTOR}`)).body.code).toBe("entity_not_found");
    expect(readdirSync(folder())).toEqual([IMPOSTOR]);
  });

  test.each(IMPOSTORS)("keeps its name, and the next backup gets another: %s", async (_, create) => {
    mkdirSync(folder());
    create(join(folder(), IMPOSTOR));
    const { status, data } = await owner.post(PATH, {});
    expect([status, data.name]).toEqual([200, TARGET]);
    expect((await waitUntilDone(owner, TARGET)).state).toBe("Done");
    expect(readdirSync(folder()).sort()).toEqual([IMPOSTOR, TARGET]);
  });

  test.each(IMPOSTORS)("is never overwritten by a backup: %s", async (_, create) => {
    const file = join(appliance.dataDirectory, "monday.db");
    create(file);
    const before = lstatSync(file).ino;
    const refused = await takeBackup({ database: appliance.databasePath, file }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "entity_already_exists" });
    expect(lstatSync(file).ino).toBe(before);
  });

  test.each(IMPOSTORS)("is not taken for an interrupted backup at startup: %s", async (_, create) => {
    mkdirSync(folder());
    create(join(folder(), `${IMPOSTOR}.partial`));
    expect(restartedFolder().list()).toEqual([]);
    expect(readdirSync(folder())).toEqual([`${IMPOSTOR}.partial`]);
  });

  test.each(["-wal", "-journal"])(
    "is not opened as a backup's sidecar file: reading that backup fails: %s",
    async (suffix) => {
      mkdirSync(folder());
      writeFileSync(join(folder(), IMPOSTOR), readFileSync(appliance.databasePath));
      makePipe(join(folder(), IMPOSTOR + suffix));
      const [listed] = (await owner.get(PATH)).data;
      expect(listed).toMatchObject({ state: "Failed", reason: expect.stringContaining("is not a regular file") });
    },
  );
});

test("a backup that disappears during listing is omitted", async () => {
  mkdirSync(folder());
  const names = ["netledger-20261121T080000000Z.db", "netledger-20261121T080000001Z.db"];
  for (const name of names) writeFileSync(join(folder(), name), "");
  const backups = restartedFolder({
    readNames: (directory) => {
      const entries = readdirSync(directory);
      rmSync(join(directory, names[0] as string), { force: true });
      return entries;
    },
  });
  expect(backups.list().map(({ name }) => name)).toEqual([names[1] as string]);
});

describe("access to backups", () => {
  test("requires an Owner, by session or by key", async () => {
    const jobs = new HeldJobs();
    await renew({ backups: { takeBackup: jobs.take } });
    const { data } = await owner.post(PATH, {});
    const operations: Array<(client: Client) => Promise<{ status: number; body: { code?: string } }>> = [
      (client) => client.get(PATH),
      (client) => client.post(PATH, {}),
      (client) => client.get(`${PATH}/${data.name}`),
    ];
    for (const send of operations) {
      expect((await send(anonymous)).status).toBe(401);
      for (const role of ["Viewer", "Member", "Admin"] as const) {
        const user = await newUser({ role });
        const refused = await send(user.client);
        expect([role, refused.status, refused.body.code]).toEqual([role, 403, "auth_permission_denied"]);
      }
    }
    const { client: adminKey } = newApiKey({ permissions: "Admin" });
    expect((await adminKey.get(PATH)).status).toBe(403);
    const { client: key } = newApiKey({ permissions: "Owner" });
    expect((await key.get(PATH)).data).toHaveLength(1);
    jobs.releaseAll();
    await waitUntilDone(owner, data.name);
  });
});

test("an API key limited to some networks neither takes nor sees backups", async () => {
  const { client } = newApiKey({ permissions: "Owner", networkIds: [first.networkId] });
  for (const response of [
    await client.get(PATH),
    await client.post(PATH, {}),
    await client.get(`${PATH}/netledger-20200101T000000000Z.db`),
  ]) {
    expect(response).toMatchObject(refusal(403, "auth_permission_denied", { all_networks: false }));
  }
  expect((await owner.get(PATH)).data).toEqual([]);
  expect((await newApiKey({ permissions: "Owner" }).client.post(PATH, {})).status).toBe(200);
});

describe("a backup file", () => {
  const taken = async () =>
    (await waitUntilDone(ownerClient, (await ownerClient.post(PATH, {})).data.name)).name as string;
  const send = (name: string, caller: Client = ownerClient, password = PASSWORD) =>
    caller.post(`${PATH}/${name}/download`, { password });
  /** An Owner with a known password. */
  let ownerClient: Client;
  const newOwnerClient = async () => {
    const { id } = await newUser({ role: "Owner" });
    await givePassword(id);
    ownerClient = await signedIn(id);
  };
  beforeEach(newOwnerClient);

  test("is downloaded by an Owner who repeats their password, byte for byte, neither cached nor compressed", async () => {
    const name = await taken();
    const response = await appliance.handle(
      new Request(`http://localhost/api/v1/${PATH}/${name}/download`, {
        method: "POST",
        headers: { ...headersOf(ownerClient), "content-type": "application/json", "accept-encoding": "zstd, gzip" },
        body: JSON.stringify({ password: PASSWORD }),
      }),
    );
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "cache-control": "no-store",
      "content-type": "application/vnd.sqlite3",
      "content-disposition": `attachment; filename="${name}"`,
    });
    expect(response.headers.get("content-encoding")).toBeNull();
    expect(Buffer.compare(await response.bytes(), readFileSync(join(folder(), name)))).toBe(0);
  });

  test("is refused with a wrong password, with growing delays", async () => {
    const name = await taken();
    expect((await send(name, ownerClient, "not the password")).body.code).toBe("auth_invalid_credentials");
    for (let n = 0; n < 20; n += 1) await send(name, ownerClient, `guess ${n}`);
    expect((await send(name)).body.code).toBe("rate_limit_exceeded");
  });

  test("is denied to Admins, to an Owner's API key and to cross-site pages", async () => {
    const name = await taken();
    const admin = await newUser({ role: "Admin" });
    await givePassword(admin.id);
    expect((await send(name, await signedIn(admin.id))).body.code).toBe("auth_permission_denied");
    expect((await send(name, newApiKey({ permissions: "Owner" }).client)).body.code).toBe("auth_session_required");
    expect((await send(name, ownerClient.with({ "sec-fetch-site": "cross-site" }))).body.code).toBe(
      "auth_origin_rejected",
    );
  });

  test("can be neither downloaded nor deleted if another organization exists", async () => {
    const name = await taken();
    await appliance.newOrganization("Second");
    expect((await send(name)).body.code).toBe("auth_permission_denied");
    expect((await ownerClient.delete(`${PATH}/${name}`)).body.code).toBe("auth_permission_denied");
    expect(readdirSync(folder())).toEqual([name]);
  });

  test("can be neither downloaded nor deleted while it is being taken", async () => {
    const jobs = new HeldJobs();
    await renew({ backups: { takeBackup: jobs.take } });
    await newOwnerClient();
    const { data } = await ownerClient.post(PATH, {});
    expect((await send(data.name)).body.code).toBe("entity_in_use");
    expect((await ownerClient.delete(`${PATH}/${data.name}`)).body.code).toBe("entity_in_use");
    jobs.releaseAll();
    expect((await waitUntilDone(ownerClient, data.name)).state).toBe("Done");
  });

  test("is removed from disk when deleted, and its name is not reused", async () => {
    const [name, other] = [await taken(), await taken()];
    const response = await ownerClient.delete(`${PATH}/${name}`);
    expect([response.status, response.data]).toEqual([200, {}]);
    expect(readdirSync(folder())).toEqual([other]);
    expect((await ownerClient.get(PATH)).data.map((backup: { name: string }) => backup.name)).toEqual([other]);
    for (const response of [
      await ownerClient.get(`${PATH}/${name}`),
      await send(name),
      await ownerClient.delete(`${PATH}/${name}`),
    ])
      expect([response.status, response.body.code]).toEqual([404, "entity_not_found"]);
    expect(await taken()).not.toBe(name);
  });

  test("is deleted once by a repeated request, and not by a refused one", async () => {
    const name = await taken();
    const key = { "idempotency-key": "once" };
    expect((await ownerClient.delete(`${PATH}/netledger-20200101T000000000Z.db`, key)).body.code).toBe(
      "entity_not_found",
    );
    expect((await ownerClient.delete(`${PATH}/${name}`, { "idempotency-key": "twice" })).status).toBe(200);
    const repeated = await ownerClient.delete(`${PATH}/${name}`, { "idempotency-key": "twice" });
    expect([repeated.status, repeated.data, repeated.headers.get("idempotency-replayed")]).toEqual([200, {}, "true"]);
    expect((await ownerClient.delete(`${PATH}/${name}`, key)).body.code).toBe("entity_not_found");
  });

  test("cannot be used to access other files by an unknown name", async () => {
    await taken();
    writeFileSync(join(appliance.dataDirectory, "other.db"), "other");
    for (const name of ["..%2Fnetledger.db", "..%2Fother.db", "%2e%2e%2fother.db", "other.db"]) {
      expect((await send(name)).status).toBeGreaterThanOrEqual(400);
      expect((await ownerClient.delete(`${PATH}/${name}`)).status).toBeGreaterThanOrEqual(400);
    }
    expect(existsSync(join(appliance.dataDirectory, "other.db"))).toBe(true);
    expect((await ownerClient.get("hosts")).status).toBe(200);
  });

  test("cannot be downloaded after a failed backup, and its deletion clears the failure", async () => {
    await renew({
      backups: { takeBackup: () => ({ taken: Promise.reject(new Error("broken")), abandon: () => {} }) },
    });
    await newOwnerClient();
    const name = await taken();
    expect((await send(name)).body.code).toBe("entity_not_found");
    expect((await ownerClient.delete(`${PATH}/${name}`)).status).toBe(200);
    expect((await ownerClient.get(PATH)).data).toEqual([]);
  });
});

function headersOf(client: Client): Record<string, string> {
  return (client as unknown as { headers: Record<string, string> }).headers;
}
