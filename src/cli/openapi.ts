// netledger openapi: prints the OpenAPI document of this version, without any data.

import { composeApp } from "../appliance.ts";
import type { Backups } from "../backup/backups.ts";
import { systemLog } from "../base/log.ts";
import type { LongReads } from "../db/long-reads.ts";
import type { Reader } from "../db/reader.ts";
import type { CommitWatch } from "../history/commit-watch.ts";
import type { WriteQueue } from "../db/write-queue.ts";
import { openApiDocument } from "../http/documentation.ts";
import { defineCommand, EXIT } from "./command.ts";

export const openapi = defineCommand(
  { name: "openapi", summary: "prints the OpenAPI document of the API, without any data.", always: [], maybe: [] },
  async (_config, surroundings) => {
    const app = composeApp({
      ...surroundings,
      reader: absent<Reader>(),
      writes: absent<WriteQueue>(),
      longReads: absent<LongReads>(),
      backups: absent<Backups>(),
      isReadOnly: false,
      watch: absent<CommitWatch>(),
      log: systemLog(),
      monotonicMs: () => performance.now(),
      setupToken: null,
    });
    await surroundings.print(`${await openApiDocument(app)}\n`);
    return EXIT.done;
  },
);

/** Stands where nothing is to be asked: an operation's promises are known without a store. */
function absent<T extends object>(): T {
  return new Proxy({} as T, {
    get: (_target, name) => {
      throw new Error(`openapi: there is no store to ask for ${String(name)}`);
    },
  });
}
