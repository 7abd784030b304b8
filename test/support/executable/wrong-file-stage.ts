// The stage of the tests of wrong files. Apart from the table, which programs load that are no tests.

import { afterAll, beforeAll } from "bun:test";
import { mkdirSync } from "node:fs";
import { EXECUTABLE, ensureExecutable, Workplace } from "./executable.ts";
import { WrongFileStage } from "./wrong-files.ts";

/** One for all tests of the file. @returns what gives it to a test */
export function wrongFileStage(): () => WrongFileStage {
  let place: Workplace;
  let stage: WrongFileStage;
  beforeAll(async () => {
    ensureExecutable();
    place = new Workplace();
    const folder = place.path("stage");
    mkdirSync(folder);
    stage = await WrongFileStage.make(EXECUTABLE, folder);
  });
  afterAll(() => place.close());
  return () => stage;
}
