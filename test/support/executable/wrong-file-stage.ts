// Stage of the wrong-file tests. Separate from the table, which programs outside the tests load.

import { afterAll, beforeAll } from "bun:test";
import { mkdirSync } from "node:fs";
import { EXECUTABLE, ensureExecutable, Workplace } from "./executable.ts";
import { WrongFileStage } from "./wrong-files.ts";

/** One stage for all tests of the file. @returns its getter */
export function wrongFileStage(): () => WrongFileStage {
  let workplace: Workplace;
  let stage: WrongFileStage;
  beforeAll(async () => {
    ensureExecutable();
    workplace = new Workplace();
    const folder = workplace.path("stage");
    mkdirSync(folder);
    stage = await WrongFileStage.make(EXECUTABLE, folder);
  });
  afterAll(() => workplace.close());
  return () => stage;
}
