// Every command with what is not a file, in every place that it takes one from. wrong-files.all.test.ts has all kinds.

import { describe, expect, test } from "bun:test";
import { wrongFileStage } from "../support/executable/wrong-file-stage.ts";
import { type KindName, settingsLeftOut, WRONG_FILE_ROWS } from "../support/executable/wrong-files.ts";

/** What cannot be opened, or not read, or is waited for. */
const KINDS: readonly KindName[] = ["a folder", "a named pipe"];

const stage = wrongFileStage();

test("every setting that is a path is in the table", () => {
  expect(settingsLeftOut()).toEqual([]);
  expect(WRONG_FILE_ROWS.length).toBeGreaterThan(60);
});

describe("a folder and a pipe are refused in one sentence with the documented status, and not waited for:", () => {
  test.each(WRONG_FILE_ROWS.map((row) => [row.name, row] as const))("%s", async (_, row) => {
    expect(await row.tried(stage(), KINDS)).toEqual({});
  });
});
