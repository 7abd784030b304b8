// Sandbox of the wrong-file tests. Separate from the table, which non-test programs load.

import { afterAll, beforeAll } from "bun:test";
import { mkdirSync } from "node:fs";
import { EXECUTABLE, ensureExecutable, Sandbox } from "./executable.ts";
import { WrongFileStage } from "./wrong-files.ts";

/** One stage for all tests of the file. @returns its getter */
export function wrongFileStage(): () => WrongFileStage {
  let sandbox: Sandbox;
  let stage: WrongFileStage;
  beforeAll(async () => {
    ensureExecutable();
    sandbox = new Sandbox();
    const folder = sandbox.path("stage");
    mkdirSync(folder);
    stage = await WrongFileStage.make(EXECUTABLE, folder);
  });
  afterAll(() => sandbox.close());
  return () => stage;
}
