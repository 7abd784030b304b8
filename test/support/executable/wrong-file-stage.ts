// Stage of the wrong-file tests. Separate from the table, which programs outside the tests load.

import { afterAll, beforeAll } from "bun:test";
import { mkdirSync } from "node:fs";
import { EXECUTABLE, ensureExecutable, Workplace } from "./executable.ts";
import { WrongFileStage } from "./wrong-files.ts";

/** One stage for all tests of the file. @returns its getter */
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
