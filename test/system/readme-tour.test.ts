// The README's tour, as a reader pastes it, against the compiled executable.

import { afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { DEADLINE_MS, ensureExecutable, Workplace } from "../support/executable.ts";

const README = readFileSync(join(resolve(import.meta.dir, "../.."), "README.md"), "utf8");

let place: Workplace;
beforeAll(ensureExecutable);
beforeEach(() => {
  place = new Workplace();
});
afterEach(() => place.close());

/** The tour's lines after the one with the token. */
function tour(): string {
  return [...README.matchAll(/^```sh tour\n(.*?)^```$/gms)].map((match) => match[1]).join("");
}

test.skipIf(Bun.which("curl") === null)("the README's tour does what it says, line by line", async () => {
  const running = await place.serve();
  const script = tour().replace("URL=http://127.0.0.1:8080", `URL=${running.url}`);
  expect(script).toContain(`URL=${running.url}`);
  const shell = Bun.spawn(["bash", "-eu", "-o", "pipefail", "-c", `TOKEN=${running.setupToken}\n${script}`], {
    cwd: place.directory,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: DEADLINE_MS,
  });
  const [out, err] = await Promise.all([shell.stdout.text(), shell.stderr.text(), shell.exited]);
  expect(err).toBe("");
  expect(shell.exitCode).toBe(0);
  const lines = out.split("\n");
  const envelopes = lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
  const [claimed, discovered, entries, again, longAgo, history, revert, feed, located, found] = envelopes;
  expect(claimed.data.user.role).toBe("Owner");
  expect(discovered.data.created.hosts).toBe(1);
  expect(entries.data.length).toBeGreaterThan(0);
  expect(again.data).toMatchObject({ sequence: null, created: {}, updated: {}, deleted: {} });
  expect(longAgo.data).toEqual([]);
  const hostname = (await Bun.file("/proc/sys/kernel/hostname").text()).trim();
  const said = lines.filter((line) => line !== "" && !line.startsWith("{"));
  expect(said[0]).toBe("the inventory itself");
  expect(said[1]).toBe(hostname);
  expect(said[2]).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
  expect(said[3]).toBe("404");
  expect(said[4]).toBe(hostname);
  expect(history.data.map((each: { operation: string }) => each.operation)).toEqual(["Deleted", "Updated", "Created"]);
  expect(out).toContain("What changed from ");
  expect(out).toContain(`  - ${hostname}  (tour, `);
  expect(said).toContain(hostname);
  expect(revert.data).toMatchObject({ applied: false });
  expect(feed.data[0]).toMatchObject({ entity_type: "host", operation: "Created", record: { name: hostname } });
  expect(located.data.candidates).not.toEqual([]);
  expect(found.data).toMatchObject([{ name: hostname }]);
  expect(said.some((line) => line.startsWith("id,"))).toBe(true);
  expect(said.at(-1)).toMatch(/^netledger-\d{8}T\d{9}Z\.db$/);
});
