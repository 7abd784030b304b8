// netledger version: version and components of this executable.

import { sqliteVersion } from "../db/connection.ts";
import { SCHEMA_VERSION } from "../db/files/migrate.ts";
import { API_VERSION, SERVER_VERSION } from "../schemas/envelope.ts";
import { defineCommand, EXIT } from "./command.ts";

export const version = defineCommand(
  { name: "version", summary: "prints the versions of the program and its components.", always: [], maybe: [] },
  async (_config, { print }) => {
    await print(
      [
        `netledger ${SERVER_VERSION}`,
        `api ${API_VERSION}`,
        `schema ${SCHEMA_VERSION}`,
        `bun ${Bun.version}`,
        `sqlite ${sqliteVersion()}`,
        `platform ${process.platform}-${process.arch}`,
        "",
      ].join("\n"),
    );
    return EXIT.done;
  },
);
