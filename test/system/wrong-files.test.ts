// Every command with non-files for every path that it accepts. wrong-files.all.test.ts covers all kinds.

import { describe, expect, test } from "bun:test";
import { SUBCOMMANDS } from "../../src/cli/subcommands.ts";
import { wrongFileStage } from "../support/executable/wrong-file-stage.ts";
import { type KindName, settingsLeftOut, WRONG_FILE_ROWS } from "../support/executable/wrong-files.ts";

/** Places of a database. */
const OF_DATA = WRONG_FILE_ROWS.filter(({ name }) =>
  /the database in|serve, read-only|verify, backup|restore, file/.test(name),
);

/** Kinds that can't be opened or read, or that block. */
const KINDS: readonly KindName[] = ["a folder", "a named pipe"];

const stage = wrongFileStage();

test("every setting with a path is in the table", () => {
  expect(settingsLeftOut()).toEqual([]);
  expect(WRONG_FILE_ROWS.length).toBeGreaterThan(60);
});

describe("a directory and a FIFO are refused in one sentence with the documented status, without waiting:", () => {
  test.each(WRONG_FILE_ROWS.map((row) => [row.name, row] as const))("%s", async (_, row) => {
    expect(await row.tried(stage(), KINDS)).toEqual({});
  });
});

test("data and backups from before 0.2.0 are refused by every command, in one sentence with status 1, and untouched", async () => {
  const commands = SUBCOMMANDS.filter(({ form }) =>
    [...form.always, ...form.maybe].some((name) => name === "data" || name === "servedData"),
  );
  expect(OF_DATA).toHaveLength(commands.length + 3);
  const wrong = await Promise.all(
    OF_DATA.map(async ({ name, tried }) => [name, await tried(stage(), ["data from before 0.2.0"])]),
  );
  expect(Object.fromEntries(wrong)).toEqual(Object.fromEntries(OF_DATA.map(({ name }) => [name, {}])));
});
