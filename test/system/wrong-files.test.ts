// Every command with directories and other non-files for every path that it accepts. wrong-files.all.test.ts covers all
// kinds.

import { describe, expect, test } from "bun:test";
import { SUBCOMMANDS } from "../../src/cli/subcommands.ts";
import { wrongFileStage } from "../support/executable/wrong-file-stage.ts";
import { type KindName, uncoveredSettings, WRONG_FILE_ROWS } from "../support/executable/wrong-files.ts";

/** Rows whose path is a database. */
const DATABASE_ROWS = WRONG_FILE_ROWS.filter(({ name }) =>
  /the database in|serve, read-only|verify, backup|restore, file/.test(name),
);

/** Kinds that can't be opened or read, or that block. */
const KINDS: readonly KindName[] = ["a directory", "a named pipe"];

const stage = wrongFileStage();

test("every setting with a path is in the table", () => {
  expect(uncoveredSettings()).toEqual([]);
  expect(WRONG_FILE_ROWS.length).toBeGreaterThan(60);
});

describe("a directory and a FIFO are refused in one sentence with the documented status, without waiting", () => {
  test.each(WRONG_FILE_ROWS.map((row) => [row.name, row] as const))("%s", async (_, row) => {
    expect(await row.check(stage(), KINDS)).toEqual({});
  });
});

test("every command refuses data and backups from before 0.2.0 with status 1, and leaves them untouched", async () => {
  const commands = SUBCOMMANDS.filter(({ form }) =>
    [...form.always, ...form.maybe].some((name) => name === "data" || name === "servedData"),
  );
  expect(DATABASE_ROWS).toHaveLength(commands.length + 3);
  const results = await Promise.all(
    DATABASE_ROWS.map(async ({ name, check }) => [name, await check(stage(), ["data from before 0.2.0"])]),
  );
  expect(Object.fromEntries(results)).toEqual(Object.fromEntries(DATABASE_ROWS.map(({ name }) => [name, {}])));
});
