// All subcommands, in help order.

import { backup } from "./backup.ts";
import type { Command } from "./command.ts";
import { compact } from "./compact.ts";
import { importCommands } from "./import.ts";
import { keyCommands } from "./key.ts";
import { openapi } from "./openapi.ts";
import { prune } from "./prune.ts";
import { restore } from "./restore.ts";
import { serve } from "./serve.ts";
import { setup } from "./setup.ts";
import { userCliCommands } from "./user.ts";
import { verify } from "./verify.ts";
import { version } from "./version.ts";

/** In help order. */
export const SUBCOMMANDS: readonly Command[] = [
  serve,
  setup,
  ...userCliCommands,
  ...keyCommands,
  verify,
  prune,
  compact,
  backup,
  restore,
  ...importCommands,
  openapi,
  version,
];
