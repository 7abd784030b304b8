// Writer setup: the database opened for writing and migrated, with all commands registered.

import { AuthorPermissions } from "../access/current-permissions.ts";
import { systemClock } from "../base/clock.ts";
import { type Random, systemRandom } from "../base/random.ts";
import { SecretBox } from "../base/secret-box.ts";
import { openWritable, type Sql } from "../db/connection.ts";
import { createDatabase, migrate, orRefused, refusalOf, requireWritable } from "../db/files/migrate.ts";
import { ReadFence } from "../db/writing/read-fence.ts";
import type { WriterOptions } from "../db/writing/write-queue.ts";
import { Writer } from "../db/writing/writer.ts";
import { REPLAY_POLICY } from "../history/replayed-outcomes.ts";
import { upgradeStore } from "../history/upgrade.ts";
import { KINDS } from "../records/resources.ts";
import { COMMANDS } from "../registry/commands.ts";
import { missingReasonError } from "../resources/organizations/required-reason.ts";
import { reducesPermissions } from "../sessions/permission-reductions.ts";

/** Data shared between a writer and other threads or processes. */
export interface SharedWithWriter {
  /** Memory of ReadFence, shared with another thread. */
  readonly past?: SharedArrayBuffer;
  readonly onPostponed?: () => void;
  /** Lead of commit timestamps over the clock, for another process without shared memory. */
  readonly leadMs?: number;
  /**
   * For generating demo data: the given author writes without a permission check, and nothing is durable before the
   * generator syncs the file.
   */
  readonly isGeneratingData?: true;
}

/**
 * Opens the database for writing, migrated to this version's schema.
 * @throws DatabaseRefused with one sentence for the operator
 */
export function openWriter(
  options: WriterOptions,
  clock = systemClock,
  random: Random = systemRandom,
  shared: SharedWithWriter = {},
): Writer<typeof COMMANDS> {
  const db = openMigrated(options.databasePath);
  const box = new SecretBox(options.secretKey, random);
  const { past, isGeneratingData, ...others } = shared;
  if (isGeneratingData === true) db.$client.run("PRAGMA synchronous = OFF");
  return orRefused(
    options.databasePath,
    () =>
      new Writer({
        db,
        kinds: KINDS,
        commands: COMMANDS,
        clock,
        random,
        box,
        replayPolicy: REPLAY_POLICY,
        reducesPermissions,
        missingReason: missingReasonError,
        ...others,
        ...(isGeneratingData === true ? {} : { rights: new AuthorPermissions(db.$client) }),
        ...(past === undefined ? {} : { fence: new ReadFence(clock, past) }),
      }),
  );
}

function openMigrated(path: string): Sql {
  try {
    createDatabase(path);
    requireWritable(path);
    const db = openWritable(path);
    migrate(db, path, upgradeStore);
    return db;
  } catch (error) {
    throw refusalOf(error, path);
  }
}
