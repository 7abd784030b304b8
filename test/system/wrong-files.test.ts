// Every command with non-files for every path that it accepts. wrong-files.all.test.ts covers all kinds.

import { describe, expect, test } from "bun:test";
import { wrongFileStage } from "../support/executable/wrong-file-stage.ts";
import { type KindName, settingsLeftOut, WRONG_FILE_ROWS } from "../support/executable/wrong-files.ts";

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
