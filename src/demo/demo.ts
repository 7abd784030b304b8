// Demo setup: the data, created if missing, and the password of the fictional users. Never touches a directory with a
// real inventory.

import { existsSync, rmSync } from "node:fs";
import { SYSTEM_AUTHOR } from "../access/actor.ts";
import { hashPassword, verifyPassword } from "../access/password.ts";
import type { Clock } from "../base/clock.ts";
import { syncFile } from "../base/durable-file.ts";
import { loadOrCreateKeyFile } from "../base/key-file.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import { type DataFiles, dataFiles, ensureDataDirectory, lockData } from "../db/files/data-directory.ts";
import { DatabaseRefused } from "../db/files/migrate.ts";
import type { ReadConnection } from "../db/reading/read-connection.ts";
import type { WriteQueue } from "../db/writing/write-queue.ts";
import type { AllCommands } from "../registry/commands.ts";
import { demoStateOf, writeMarker } from "./demo-marker.ts";
import { DEMO_DAYS, makeDemo } from "./make-demo.ts";
import { DEMO_EMAIL, PEOPLE } from "./people.ts";

/** Password of all users while the demo is not reachable by others. */
export const DEMO_PASSWORD = "look-around";

/** Letters and digits that are not easily confused. */
const LETTERS = "abcdefghijkmnpqrstuvwxyz23456789";
const PASSWORD_LETTERS = 20;

interface DemoOptions {
  /** Absolute path. */
  readonly directory: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/**
 * Creates the data if missing, which takes a few seconds; recreates an unfinished demo.
 * @throws DatabaseRefused for a directory with a real inventory, or one in use
 */
export async function prepareDemo({ directory, clock, random, log }: DemoOptions): Promise<void> {
  const files = dataFiles(directory);
  const state = demoStateOf(directory);
  if (state === "none" && existsSync(files.database))
    throw new DatabaseRefused(
      `${directory} holds a real inventory: a demo needs its own folder; specify one with --data.`,
    );
  if (state === "complete" && existsSync(files.database)) return;
  ensureDataDirectory(directory);
  const lock = lockData(files);
  try {
    log.info("demo_making", { data: directory, days: DEMO_DAYS });
    const start = clock.now();
    await writeMarker(directory, null);
    removeUnfinished(files);
    await makeDemo({
      databasePath: files.database,
      secretKey: loadOrCreateKeyFile(files.key, random),
      start,
      passwordHash: await hashPassword(DEMO_PASSWORD, DEMO_EMAIL),
      secret: random,
    });
    syncFile(files.database);
    await writeMarker(directory, start);
    log.info("demo_made", { took_ms: clock.now() - start });
  } finally {
    lock.release();
  }
}

/**
 * Sets the fictional users' password: a well-known one, or a random one if others can reach the demo. A change ends
 * sessions.
 * @returns the credentials to sign in with
 */
export async function setDemoPassword(
  reader: Pick<ReadConnection, "statement">,
  writes: WriteQueue<AllCommands>,
  { isReachable, random }: { readonly isReachable: boolean; readonly random: Random },
): Promise<{ readonly email: string; readonly password: string }> {
  const password = isReachable ? randomPassword(random) : DEMO_PASSWORD;
  let passwordHash: string | null = null;
  for (const email of [DEMO_EMAIL, ...Object.values(PEOPLE).map((person) => person.email)]) {
    const [id, stored] = (reader.statement(STORED).values(email)[0] ?? []) as [string?, string?];
    if (id === undefined || (!isReachable && (await verifyPassword(password, stored ?? null)))) continue;
    passwordHash ??= await hashPassword(password, email);
    await writes.run("user.set_password", { id, passwordHash, keptHash: null }, SYSTEM_AUTHOR);
  }
  return { email: DEMO_EMAIL, password };
}

const STORED = `SELECT r.id, p.hash FROM users u JOIN history_records r ON r.n = u.n
  LEFT JOIN user_passwords p ON p.user_n = u.n WHERE u.identity = ?`;

function randomPassword(random: Random): string {
  return Array.from(random.bytes(PASSWORD_LETTERS), (byte) => LETTERS[byte % LETTERS.length]).join("");
}

function removeUnfinished({ database }: DataFiles): void {
  for (const path of [database, `${database}-wal`, `${database}-shm`]) rmSync(path, { force: true });
}
