// Imports of seeded random inventories. The writes equal the plan, an interrupted import has the same final result, and
// a repetition writes nothing.

import { afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { EXECUTABLE, ensureExecutable, Sandbox, spawnPiped } from "../support/executable/executable.ts";
import { type FakeNetbox, serveNetbox } from "../support/imports/fake-netbox.ts";
import { ImportAppliance, NETBOX_TOKEN } from "../support/imports/import-target.ts";
import { randomNetbox } from "../support/imports/random-netbox.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

let sandboxes: Sandbox[];
let netbox: FakeNetbox | null;
beforeAll(ensureExecutable);
beforeEach(() => {
  sandboxes = [];
  netbox = null;
});
afterEach(async () => {
  await netbox?.stop();
  await Promise.all(sandboxes.map((sandbox) => sandbox.close()));
});

/** Two appliances with the same data: ids of imported records depend on those of the organization and its network. */
async function openTwins(): Promise<[ImportAppliance, ImportAppliance]> {
  const [first, second] = [new Sandbox(), new Sandbox()];
  sandboxes.push(first, second);
  const { key } = await first.setUp();
  cpSync(first.data, second.data, { recursive: true });
  return [await ImportAppliance.serve(first, key), await ImportAppliance.serve(second, key)];
}

test.each([1, 2, 7, 18])(
  "the plan of a random NetBox (seed %p) is executed exactly, even if interrupted, and a repetition writes nothing",
  async (seed) => {
    const random = seededRandom(seed);
    const fixture = randomNetbox(random);
    let kill: (() => void) | null = null;
    let killAt = 0;
    netbox = serveNetbox(fixture, {
      token: NETBOX_TOKEN,
      intercept: () => {
        killAt -= 1;
        if (killAt === 0) kill?.();
        return null;
      },
    });
    const { url, requestedPaths } = netbox;
    const args = ["netbox", url, "--verbose", ...(seed % 2 === 0 ? ["--default-network", "Rest"] : [])];
    const planLines = ({ out }: { out: string }) =>
      out
        .split("\n")
        .filter((line) => !line.includes(" into http"))
        .sort();

    const [uninterrupted, interrupted] = await openTwins();
    const preview = await uninterrupted.import([...args, "--dry-run"]);
    const requests = requestedPaths.length;
    const result = await uninterrupted.import(args);
    expect(result.err).toBe("");
    expect([0, 1]).toContain(result.code ?? -1);
    expect(planLines(result)).toEqual(planLines(preview));
    const before = await uninterrupted.transactions();
    const repeated = await uninterrupted.import(args);
    expect(repeated.out.split("\n").filter((line) => /^(created|changed|kept) /.test(line))).toEqual([]);
    const refusals = (text: string) => text.split("\n").filter((line) => line.startsWith("refused "));
    expect(refusals(repeated.out).sort()).toEqual(refusals(result.out).sort());
    expect(await uninterrupted.transactions()).toBe(before);
    expect((await sandboxes[0]?.command("verify"))?.code).toBe(0);

    for (let attempt = 0; attempt < 3; attempt += 1) {
      const started = spawnPiped([EXECUTABLE, "import", ...args], interrupted.environment);
      kill = () => started.kill("SIGKILL");
      killAt = 1 + random.integer(requests);
      await started.exited;
      kill = null;
    }
    expect((await interrupted.import(args)).code).toBe(result.code);
    const [expected, found] = [await uninterrupted.inventory(), await interrupted.inventory()];
    expect(found).toEqual(expected);
  },
);
