// Records the lab's agents as test fixtures, test/fixtures/NAME.snmprec. Run it as root after changes to the lab:
// ./scripts/bun test/support/lab/record-lab.ts

import { join } from "node:path";
import { Lab } from "./lab.ts";
import { NODES } from "./network.ts";
import { RECORDED_SUBTREES } from "./record-agent.ts";

const FOLDER = join(import.meta.dir, "../../fixtures");

const lab = await Lab.start();
try {
  for (const { name, access } of NODES) {
    if (access === "none") continue;
    const recorded = await lab.record(name, RECORDED_SUBTREES);
    if (recorded === null) throw new Error(`${name} does not respond`);
    await Bun.write(join(FOLDER, `${name}.snmprec`), recorded);
  }
} finally {
  await lab.stop();
}
