// Writes down what the agents of the lab say, as the product's own recordings: test/fixtures/NAME.snmprec. To be run as
// root, by itself, when the lab has become another one: ./scripts/bun test/support/lab/record-lab.ts

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
    if (recorded === null) throw new Error(`${name} does not answer`);
    await Bun.write(join(FOLDER, `${name}.snmprec`), recorded);
  }
} finally {
  await lab.stop();
}
