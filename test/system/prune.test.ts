// netledger prune of the compiled executable: history is thinned permanently and marked as such; everything else
// continues with the rest.

import { describe, expect, test } from "bun:test";
import { copyFileSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inUnits } from "../../src/base/byte-size.ts";
import { EXECUTABLE, type Finished, type Workplace } from "../support/executable/executable.ts";
import { workplaceForEach } from "../support/executable/workplaces.ts";

const place = workplaceForEach(tmpdir());

const RENAMES = 200;
/** Distinct in every version: the first 2 kB of the description. */
const word = (n: number) => `${String(n).padStart(4, "0")}-long-forgotten `.repeat(120);

interface Grown {
  readonly key: string;
  readonly subnetId: string;
  /** Just before the last change, and between the earlier ones. */
  readonly before: string;
  readonly between: string;
}

/** Data with a subnet that was changed repeatedly; its appliance has stopped. */
async function grow(): Promise<Grown> {
  const { key, networkId, running, client } = await place.serveSetUp();
  const body = { cidr: "10.0.0.0/24", description: null };
  const made = (await client.post("subnets", { network_id: networkId, ...body, name: "first" })).data;
  let between = "";
  let before = "";
  for (let n = 0; n < RENAMES; n += 1) {
    const { data } = await client.put(`subnets/${made.id}`, { ...body, name: `name ${n}`, description: word(n) });
    if (n === RENAMES / 2) between = data.updated_at;
    before = data.updated_at;
  }
  const { data } = await client.put(`subnets/${made.id}`, { ...body, name: "last", description: "short" });
  before = new Date((Date.parse(before) + Date.parse(data.updated_at)) / 2 + 0.5).toISOString();
  await running.stop();
  return { key, subnetId: made.id, before, between };
}

function headIn(text: string): string {
  const [, sequence, hash] = /Last transaction: (\d+), at \S+, hash ([0-9a-f]{64})/.exec(text) ?? [];
  return `${sequence}:${hash}`;
}

const database = () => join(place.data, "netledger.db");
const verify = (...flags: string[]) => place.command("verify", ...flags);
const prune = (...flags: string[]) => place.command("prune", ...flags);

describe("netledger prune", () => {
  test("drops older versions, keeps the last state, and reports it: in answers, to verify, in backups", async () => {
    const { key, subnetId, before, between } = await grow();
    const dry = await prune("--before", before, "--dry-run");
    expect(dry).toMatchObject({ code: 0, err: "" });
    const [, count, of] =
      /^Would drop (\d+) of (\d+) versions \(.* of documents\); 1 state of the thinned history kept\.\nWould be thinned: transactions 1 to \d+: only the last state\nNothing was changed\.\n$/.exec(
        dry.out,
      ) ?? [];
    expect([Number(count), Number(of)]).toEqual([expect.any(Number), Number(count) + 5]);

    const pruned = await prune("--before", before);
    expect(pruned).toMatchObject({ code: 0, err: "" });
    expect(pruned.out).toStartWith(`Dropped ${count} of ${of} versions (`);
    expect(pruned.out).toMatch(
      /\nThinned: transactions 1 to \d+, up to \S+: only the last state \(by transaction \d+\)\nSound\.\n.* has .*, of which .* are free for new data; --vacuum returns them to the disk\.\n$/,
    );
    const again = await prune("--before", before);
    expect(again).toMatchObject({ code: 0, err: "" });
    expect(again.out).toStartWith("Nothing to drop before ");

    const verified = await verify("--head", headIn(pruned.out));
    expect(verified.code).toBe(0);
    expect(verified.out).toContain(`\nDropped: ${count} versions, by their hashes\nThinned: transactions 1 to `);

    const running = await place.serve();
    await expectThinned(running.withKey(key), subnetId, between);
    const file = place.path("copy.db");
    expect((await place.command("backup", file)).code).toBe(0);
    await running.stop();
    const copy = await place.serve(["--read-only", file]);
    await expectThinned(copy.withKey(key), subnetId, between);
    await copy.stop();
    const restored = await place.run(["restore", file, "--data", place.path("elsewhere")]);
    expect([restored.code, headIn(restored.out)]).toEqual([0, headIn(pruned.out)]);
    expect(restored.out).toContain(`\nDropped: ${count} versions, by their hashes\n`);
  });

  async function expectThinned(
    client: ReturnType<Awaited<ReturnType<Workplace["serve"]>>["withKey"]>,
    subnetId: string,
    between: string,
  ): Promise<void> {
    const live = await client.get(`subnets/${subnetId}`);
    expect([live.data.name, live.body.meta.resolution]).toEqual(["last", undefined]);
    const then = await client.get(`subnets?at=${between}`);
    expect([then.data, then.body.meta.resolution, then.body.meta.resolved_at]).toEqual([[], "none", null]);
    const kept = await client.get(`subnets/${subnetId}/history`);
    expect(kept.data.map((version: { record: { name: string } }) => version.record.name)).toEqual([
      "last",
      `name ${RENAMES - 1}`,
    ]);
    expect(kept.body.meta).toHaveProperty("thinned_until");
  }

  test("frees space with --vacuum, leaving no dropped byte in the file", async () => {
    const { before } = await grow();
    const size = statSync(database()).size;
    expect(readFileSync(database()).includes("0007-long-forgotten")).toBe(true);
    const pruned = await prune("--before", before, "--vacuum");
    expect([pruned.code, pruned.err]).toEqual([0, ""]);
    expect(pruned.out).toEndWith(`${database()} has ${inUnits(statSync(database()).size)}.\n`);
    expect(statSync(database()).size).toBeLessThan(size - (RENAMES / 2) * 2_000);
    expect(readFileSync(database()).includes("0007-long-forgotten")).toBe(false);
    expect(readFileSync(database()).includes(`${String(RENAMES - 1).padStart(4, "0")}-long-forgotten`)).toBe(true);
    expect((await verify()).code).toBe(0);
    // Data before and after the prune form one ledger.
    const running = await place.serve();
    await running.stop();
    expect((await verify("--head", headIn(pruned.out))).code).toBe(0);
  });

  test("on a full disk drops nothing", async () => {
    const { before } = await grow();
    const { out } = await verify();
    // With a file size limit: exceeding it fails like a full disk.
    const full = await place.run(
      [
        "-c",
        'trap "" XFSZ; ulimit -f 100; exec "$0" "$@"',
        EXECUTABLE,
        "prune",
        "--data",
        place.data,
        "--before",
        before,
      ],
      { command: ["bash"] },
    );
    expect([full.code, full.out]).toEqual([1, ""]);
    expect(full.err).toStartWith(`netledger: The disk of ${place.data} is full or fails: nothing was pruned. `);
    expect(await verify()).toMatchObject({ code: 0, out });
    expect((await prune("--before", before)).code).toBe(0);
  });

  test("is refused next to an appliance, unlike a dry run", async () => {
    await place.setUp();
    const running = await place.serve();
    const { out } = await verify();
    const refused = await prune("--before", "now");
    expect(refused).toEqual({
      code: 3,
      signal: null,
      out: "",
      err: `netledger: The data in ${place.data} are in use by another netledger: stop it first.\n`,
    });
    expect(await prune("--before", "now", "--dry-run")).toMatchObject({ code: 0, err: "" });
    expect(headIn((await verify()).out)).toBe(headIn(out));
    await running.stop();
  });

  test("of missing or damaged data drops nothing", async () => {
    expect(await prune("--before", "2026-01-01")).toMatchObject({
      code: 3,
      out: "",
      err: `netledger: There are no data in ${place.data}.\n`,
    });
    await place.setUp();
    const bytes = readFileSync(database());
    const at = bytes.indexOf('"name":"Main"');
    expect(at).toBeGreaterThan(0);
    bytes.write('"name":"Fain"', at);
    await Bun.write(database(), bytes);
    const refused = await prune("--before", "now");
    expect([refused.code, refused.out]).toEqual([3, ""]);
    expect(refused.err).toMatch(
      /^netledger: The data are damaged and were not pruned: .*Run netledger verify for all findings\.\n$/,
    );
  });

  test("without sufficiently old data reports it", async () => {
    await place.setUp();
    const head = headIn((await verify()).out);
    for (const flags of [[], ["--keep", "daily"], ["--dry-run"]]) {
      const pruned = await prune("--before", "2020-01-01", ...flags);
      expect([pruned.code, pruned.out.split("\n")[0]]).toEqual([0, "Nothing is older than 2020-01-01T00:00:00.000Z."]);
    }
    expect(headIn((await verify()).out)).toBe(head);
  });
});

describe("netledger verify --head", () => {
  const found = ({ code, out }: Finished) => [code, /^ {2}(?:transaction|known): .*$/m.exec(out)?.[0]];

  test("detects a truncated ledger, even without other evidence, and a recreated one", async () => {
    const { key, networkId } = await place.setUp();
    const short = place.path("short.db");
    copyFileSync(database(), short);
    const running = await place.serve();
    await running.withKey(key).post("subnets", { network_id: networkId, cidr: "10.0.0.0/24", name: "the last" });
    const { sequence, hash } = (await running.withKey(key).get("ledger")).data;
    const known = `${sequence}:${hash}`;
    await running.stop();
    expect(found(await verify("--head", known))).toEqual([0, undefined]);
    expect(found(await verify("--head", known.toUpperCase()))).toEqual([0, undefined]);
    expect(found(await verify("--head", `${sequence}:${"0".repeat(64)}`))).toEqual([
      1,
      `  known: transaction ${sequence}: has the hash ${hash}, but --head gives ${"0".repeat(64)}`,
    ]);
    // As if the last transaction had never happened.
    copyFileSync(short, database());
    expect((await verify()).code).toBe(0);
    const other = await verify("--head", known);
    expect(found(other)).toEqual([1, `  known: transaction ${sequence}: is given by --head, but not in the ledger`]);
    // A mistyped number must not lead to the replacement of intact data by a backup.
    expect(other.out).toEndWith(
      "The data are otherwise intact. Either the value of --head is mistyped or belongs to other data, or a backup has been restored since, or the ledger was truncated or replaced.\n",
    );
  });
});
