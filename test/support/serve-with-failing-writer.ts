// `netledger serve` with a writer that crashes: run as a process of its own.

import { serve, runAppliance } from "../../src/cli/serve.ts";
import { processSurroundings } from "../../src/cli/surroundings.ts";
import { readConfig } from "../../src/config.ts";

const config = readConfig(serve.form, process.argv.slice(3)) as unknown as Parameters<typeof runAppliance>[0];
const failing = () => new Worker(new URL("./failing-writer.ts", import.meta.url).href);
process.exit(await runAppliance(config, processSurroundings, failing));
