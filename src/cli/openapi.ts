// netledger openapi: prints the OpenAPI document of this version, without any data.

import { openApiDocument } from "../http/documentation.ts";
import { createBareApp } from "../registry/bare-app.ts";
import { defineCommand, EXIT } from "./command.ts";

export const openapi = defineCommand(
  { name: "openapi", summary: "prints the OpenAPI document of the API, without any data.", always: [], maybe: [] },
  async (_config, io) => {
    await io.print(`${await openApiDocument(createBareApp().app)}\n`);
    return EXIT.done;
  },
);
