// Imports of seeded random inventories: the writes equal the plan, an interrupted import has the same final result, and
// a repetition writes nothing.

import { afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { EXECUTABLE, ensureExecutable, spawnPiped, Workplace } from "../support/executable/executable.ts";
import { type FakeNetbox, serveNetbox } from "../support/imports/fake-netbox.ts";
import { ImportPlace, NETBOX_TOKEN } from "../support/imports/import-place.ts";
import { randomNetbox } from "../support/imports/random-netbox.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

let places: Workplace[];
let netbox: FakeNetbox | null;
beforeAll(ensureExecutable);
beforeEach(() => {
  places = [];
  netbox = null;
});
afterEach(async () => {
  await netbox?.stop();
  await Promise.all(places.map((place) => place.close()));
});

async function open(): Promise<ImportPlace> {
  const place = new Workplace();
  places.push(place);
  return ImportPlace.open(place);
}

test.each([1, 2, 7, 18])(
  "for a random NetBox of seed %p the plan is executed exactly, interrupted or not, and then empty",
  async (seed) => {
    const random = seededRandom(seed);
    const world = randomNetbox(random);
    let killed: (() => void) | null = null;
    let killAt = 0;
    netbox = serveNetbox(world, {
      token: NETBOX_TOKEN,
      intercept: () => {
        killAt -= 1;
        if (killAt === 0) killed?.();
        return null;
      },
    });
    const { url, asked } = netbox;
    const args = ["netbox", url, "--verbose", ...(seed % 2 === 0 ? ["--default-network", "Rest"] : [])];
    const told = ({ out }: { out: string }) =>
      out
        .split("\n")
        .filter((line) => !line.includes(" into http"))
        .sort();

    const whole = await open();
    const dry = await whole.import([...args, "--dry-run"]);
    const requests = asked.length;
    const done = await whole.import(args);
    expect(done.err).toBe("");
    expect([0, 1]).toContain(done.code ?? -1);
    expect(told(done)).toEqual(told(dry));
    const before = await whole.transactions();
    const again = await whole.import(args);
    expect(again.out.split("\n").filter((line) => /^(created|changed|kept) /.test(line))).toEqual([]);
    const refusals = (text: string) => text.split("\n").filter((line) => line.startsWith("refused "));
    expect(refusals(again.out).sort()).toEqual(refusals(done.out).sort());
    expect(await whole.transactions()).toBe(before);
    expect((await places[0]?.command("verify"))?.code).toBe(0);

    const broken = await open();
    for (let turn = 0; turn < 3; turn += 1) {
      const started = spawnPiped([EXECUTABLE, "import", ...args], broken.environment);
      killed = () => started.kill("SIGKILL");
      killAt = 1 + random.integer(requests);
      await started.exited;
      killed = null;
    }
    expect((await broken.import(args)).code).toBe(done.code);
    const [expected, found] = [await whole.inventory(), await broken.inventory()];
    // Networks and tags belong to the organization, and the network of the setup has a different id.
    const own = new Set(
      [...(expected.networks ?? []), ...(found.networks ?? [])].filter((each) => each.name === "Main"),
    );
    const ids = new Set([...own].map((each) => each.id));
    const plain = (rows: any[] = []) =>
      JSON.stringify(rows.map(({ organization_id: _organization, ...rest }) => rest)).replaceAll(
        new RegExp([...ids].join("|"), "g"),
        "main",
      );
    for (const list of ["tags", "vlans", "subnets", "hosts", "ip-ranges"])
      expect([list, plain(found[list])]).toEqual([list, plain(expected[list])]);
  },
);
