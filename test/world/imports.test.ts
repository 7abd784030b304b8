// Import rule of the simulated site: the world and the oracle must be independent of the product that they measure.

import { expect, test } from "bun:test";
import { importsOf, parse, readRepository } from "../support/source/syntax.ts";

/** Everything except the driver, which feeds the rows to the product and reads its responses. */
const INDEPENDENT = /^test\/world\/((site|events|render|oracle|figures)\/|rates\.ts)/;

/** Modules outside these directories that may be imported. */
const ALLOWED = new Set(["test/support/injected/seeded-random.ts", "node:fs"]);

/** The only module that passes rows to the product's discovery, and the only one that runs scans. */
const DRIVERS = ["test/world/product/world-appliance.ts", "test/world/product/world-probes.ts"];

const files = await parse(readRepository(["test"], (path) => path.startsWith("test/world/") && path.endsWith(".ts")));
const imports = [...files].flatMap(([from, file]) =>
  importsOf(file).map(({ specifier }) => ({
    from,
    to: specifier.startsWith(".") ? new URL(specifier, `file:///${from}`).pathname.slice(1) : specifier,
  })),
);

test("world, renderer, oracle and figures import only each other and the random source", () => {
  const independent = imports.filter(({ from }) => INDEPENDENT.test(from));
  expect(independent.length).toBeGreaterThan(20);
  expect(independent.filter(({ to }) => !INDEPENDENT.test(to) && !ALLOWED.has(to))).toEqual([]);
});

test("only the driver imports the product's discovery", () => {
  const importers = imports.filter(({ to }) => to.startsWith("src/discovery/")).map(({ from }) => from);
  expect([...new Set(importers)].sort()).toEqual(DRIVERS);
});
