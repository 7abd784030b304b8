// Initial load of the console: size and completeness of its scripts.

import { expect, test } from "bun:test";
import { chunkSizes } from "../../scripts/benchmark/console/chunks.ts";
import { buildConsole, CONSOLE_PACK } from "../../scripts/console.ts";
import { readConsolePack } from "../../src/http/console-pack.ts";

/** Size limit from the console's design, after Brotli. */
const FIRST_BYTES_MAX = 100_000;
/** Browsers request six at a time, and each request takes a few milliseconds. */
const FURTHER_SCRIPTS_MAX = 2;

test("the initial scripts of every page are small, complete, and named in the page", async () => {
  const { sizes, first } = await buildConsole();
  expect(first.filter((name) => sizes[name] === undefined)).toEqual([]);
  const bytes = first.reduce((sum, name) => sum + (sizes[name] ?? 0), 0);
  // The benchmark reads the same size from the files.
  expect((await chunkSizes(Bun.file(CONSOLE_PACK))).main).toBe(bytes);
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(FIRST_BYTES_MAX);
  const { files } = await readConsolePack(Bun.file(CONSOLE_PACK));
  const page = await files.get("")?.plain.text();
  expect(page).toContain(`src="/console/${first[0]}"`);
  for (const name of first.slice(1)) expect(page).toContain(`rel="modulepreload" href="/console/${name}"`);
  for (const { name, plain, brotli, gzip } of files.values())
    expect([name, brotli.size < plain.size || plain.size < 400, gzip.size < plain.size || plain.size < 400]).toEqual([
      name,
      true,
      true,
    ]);
});

test("no page loads more than a handful of scripts", async () => {
  const { further } = await buildConsole();
  const counts = new Map(Object.entries(further));
  expect(counts.get("src/console/hosts/host-page.tsx")).toBeGreaterThan(0);
  expect(counts.size).toBeGreaterThan(40);
  expect([...counts].filter(([, count]) => count > FURTHER_SCRIPTS_MAX)).toEqual([]);
});
