// `netledger serve` with a crashing writer, as a separate process.

import { threadOf } from "../../../src/base/thread.ts";
import { readConfig } from "../../../src/cli/config.ts";
import { processIo } from "../../../src/cli/process-io.ts";
import { runAppliance, serve } from "../../../src/cli/serve.ts";
import type { WriteMessages } from "../../../src/db/writing/write-queue.ts";

const config = readConfig(serve.form, process.argv.slice(3)) as unknown as Parameters<typeof runAppliance>[0];
const failing = threadOf<WriteMessages>(() => new Worker(new URL("./failing-writer.ts", import.meta.url).href));
process.exit(await runAppliance(config, processIo, failing));
