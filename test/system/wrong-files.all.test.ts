// Every command with every wrong kind of file for every path that it accepts.

import { describe, expect, test } from "bun:test";
import { wrongFileStage } from "../support/executable/wrong-file-stage.ts";
import { WRONG_FILE_ROWS } from "../support/executable/wrong-files.ts";

const stage = wrongFileStage();

describe("a wrong file type is refused in one sentence with the documented status, without waiting", () => {
  test.each(WRONG_FILE_ROWS.map((row) => [row.name, row] as const))("%s", async (_, row) => {
    expect(await row.check(stage())).toEqual({});
  });
});
