// From the command line to a command, and from its result to the exit status. The only place where the process is ended.

import { createReadStream } from "node:fs";
import { DomainError } from "./base/errors.ts";
import { systemClock } from "./base/clock.ts";
import { systemRandom } from "./base/random.ts";
import { ListenError } from "./appliance.ts";
import { EXIT, type Command, type Surroundings } from "./cli/command.ts";
import { helpOf, helpOverview } from "./cli/help.ts";
import { openapi } from "./cli/openapi.ts";
import { serve } from "./cli/serve.ts";
import { setup } from "./cli/setup.ts";
import { version } from "./cli/version.ts";
import { UsageError } from "./config.ts";
import { DatabaseRefused } from "./db/migrate.ts";

/** In the order of the help. */
const COMMANDS: readonly Command[] = [serve, setup, openapi, version];

process.exit(await main(process.argv.slice(2)));

async function main(args: readonly string[]): Promise<number> {
  // Whatever it makes is its owner's alone: the database, its log, the key.
  process.umask(0o077);
  try {
    return await dispatch(args);
  } catch (error) {
    return explain(error);
  }
}
