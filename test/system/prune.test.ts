// netledger prune with the compiled executable: history is thinned permanently and marked as such; everything else
// works on the remaining data.

import { describe, expect, test } from "bun:test";
import { copyFileSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatBytes } from "../../src/base/byte-size.ts";
import { type CommandResult, EXECUTABLE, type Sandbox } from "../support/executable/executable.ts";
import { sandboxForEach } from "../support/executable/sandboxes.ts";

const sandbox = sandboxForEach(tmpdir());

const RENAMES = 200;
/** Distinct in every version: the first 2 kB of the description. */
const uniqueText = (n: number) => `${String(n).padStart(4, "0")}-long-forgotten `.repeat(120);

interface PrunableData {
  readonly key: string;
  readonly subnetId: string;
  /** Just before the last change, and between the earlier ones. */
  readonly before: string;
  readonly between: string;
}

/** Data with a subnet that was changed repeatedly; its appliance has stopped. */
async function createHistory(): Promise<PrunableData> {
  const { key, networkId, running, client } = await sandbox.serveSetUp();
  const body = { cidr: "10.0.0.0/24", description: null };
  const subnet = (await client.post("subnets", { network_id: networkId, ...body, name: "first" })).data;
  let between = "";
  let before = "";
  for (let n = 0; n < RENAMES; n += 1) {
    const changed = { ...body, name: `name ${n}`, description: uniqueText(n) };
    const { data } = await client.put(`subnets/${subnet.id}`, changed);
    if (n === RENAMES / 2) between = data.updated_at;
    before = data.updated_at;
  }
  const { data } = await client.put(`subnets/${subnet.id}`, { ...body, name: "last", description: "short" });
  before = new Date((Date.parse(before) + Date.parse(data.updated_at)) / 2 + 0.5).toISOString();
  await running.stop();
  return { key, subnetId: subnet.id, before, between };
}

function headIn(text: string): string {
  const [, sequence, hash] = /Last transaction: (\d+), at \S+, hash ([0-9a-f]{64})/.exec(text) ?? [];
  return `${sequence}:${hash}`;
}

const database = () => join(sandbox.data, "netledger.db");
const verify = (...flags: string[]) => sandbox.command("verify", ...flags);
const prune = (...flags: string[]) => sandbox.command("prune", ...flags);

describe("netledger prune", () => {
  test("drops older versions, keeps the last state, and reports this in responses, verify and backups", async () => {
    const { key, subnetId, before, between } = await createHistory();
    const preview = await prune("--before", before, "--dry-run");
    expect(preview).toMatchObject({ code: 0, err: "" });
    const [, count, total] =
      /^Would drop (\d+) of (\d+) versions \(.* of documents\); 1 state of the thinned history kept\.\nWould be thinned: transactions 1 to \d+: only the last state\nNothing was changed\.\n$/.exec(
        preview.out,
      ) ?? [];
    expect([Number(count), Number(total)]).toEqual([expect.any(Number), Number(count) + 5]);

    const pruned = await prune("--before", before);
    expect(pruned).toMatchObject({ code: 0, err: "" });
    expect(pruned.out).toStartWith(`Dropped ${count} of ${total} versions (`);
    expect(pruned.out).toMatch(
      /\nThinned: transactions 1 to \d+, up to \S+: only the last state \(by transaction \d+\)\nNo problems found\.\n.* has .*, of which .* are free for new data; --vacuum returns them to the disk\.\n$/,
    );
    const repeated = await prune("--before", before);
    expect(repeated).toMatchObject({ code: 0, err: "" });
    expect(repeated.out).toStartWith("Nothing to drop before ");

    const verified = await verify("--head", headIn(pruned.out));
    expect(verified.code).toBe(0);
    expect(verified.out).toContain(`\nDropped: ${count} versions, by their hashes\nThinned: transactions 1 to `);

    const running = await sandbox.serve();
    await expectThinned(running.withKey(key), subnetId, between);
    const file = sandbox.path("copy.db");
    expect((await sandbox.command("backup", file)).code).toBe(0);
    await running.stop();
    const copy = await sandbox.serve(["--read-only", file]);
    await expectThinned(copy.withKey(key), subnetId, between);
    await copy.stop();
    const restored = await sandbox.run(["restore", file, "--data", sandbox.path("elsewhere")]);
    expect([restored.code, headIn(restored.out)]).toEqual([0, headIn(pruned.out)]);
    expect(restored.out).toContain(`\nDropped: ${count} versions, by their hashes\n`);
  });

  async function expectThinned(
    client: ReturnType<Awaited<ReturnType<Sandbox["serve"]>>["withKey"]>,
    subnetId: string,
    between: string,
  ): Promise<void> {
    const live = await client.get(`subnets/${subnetId}`);
    expect([live.data.name, live.body.meta.resolution]).toEqual(["last", undefined]);
    const past = await client.get(`subnets?at=${between}`);
    expect([past.data, past.body.meta.resolution, past.body.meta.resolved_at]).toEqual([[], "none", null]);
    const remaining = await client.get(`subnets/${subnetId}/history`);
    const names = remaining.data.map((version: { record: { name: string } }) => version.record.name);
    expect(names).toEqual(["last", `name ${RENAMES - 1}`]);
    expect(remaining.body.meta).toHaveProperty("thinned_until");
  }

  test("frees space with --vacuum, leaving no dropped byte in the file", async () => {
    const { before } = await createHistory();
    const size = statSync(database()).size;
    expect(readFileSync(database()).includes("0007-long-forgotten")).toBe(true);
    const pruned = await prune("--before", before, "--vacuum");
    expect([pruned.code, pruned.err]).toEqual([0, ""]);
    expect(pruned.out).toEndWith(`${database()} has ${formatBytes(statSync(database()).size)}.\n`);
    expect(statSync(database()).size).toBeLessThan(size - (RENAMES / 2) * 2_000);
    expect(readFileSync(database()).includes("0007-long-forgotten")).toBe(false);
    expect(readFileSync(database()).includes(`${String(RENAMES - 1).padStart(4, "0")}-long-forgotten`)).toBe(true);
    expect((await verify()).code).toBe(0);
    // Data before and after the prune form one ledger.
    const running = await sandbox.serve();
    await running.stop();
    expect((await verify("--head", headIn(pruned.out))).code).toBe(0);
  });

  test("drops nothing on a full disk", async () => {
    const { before } = await createHistory();
    const { out } = await verify();
    // With a file size limit: exceeding it fails like a full disk.
    const limited = ["-c", 'trap "" XFSZ; ulimit -f 100; exec "$0" "$@"', EXECUTABLE];
    const args = ["prune", "--data", sandbox.data, "--before", before];
    const result = await sandbox.run([...limited, ...args], { command: ["bash"] });
    expect([result.code, result.out]).toEqual([1, ""]);
    expect(result.err).toStartWith(`netledger: The disk of ${sandbox.data} is full or failing: nothing was pruned. `);
    expect(await verify()).toMatchObject({ code: 0, out });
    expect((await prune("--before", before)).code).toBe(0);
  });

  test("is refused next to an appliance, unlike a dry run", async () => {
    await sandbox.setUp();
    const running = await sandbox.serve();
    const { out } = await verify();
    const err = `netledger: The data in ${sandbox.data} are in use by another netledger: stop it first.\n`;
    expect(await prune("--before", "now")).toEqual({ code: 3, signal: null, out: "", err });
    expect(await prune("--before", "now", "--dry-run")).toMatchObject({ code: 0, err: "" });
    expect(headIn((await verify()).out)).toBe(headIn(out));
    await running.stop();
  });

  test("drops nothing if data is missing or damaged", async () => {
    const err = `netledger: There is no data in ${sandbox.data}.\n`;
    expect(await prune("--before", "2026-01-01")).toMatchObject({ code: 3, out: "", err });
    await sandbox.setUp();
    const bytes = readFileSync(database());
    const offset = bytes.indexOf('"name":"Main"');
    expect(offset).toBeGreaterThan(0);
    bytes.write('"name":"Fain"', offset);
    await Bun.write(database(), bytes);
    const refused = await prune("--before", "now");
    expect([refused.code, refused.out]).toEqual([3, ""]);
    expect(refused.err).toMatch(
      /^netledger: The data is damaged and was not pruned: .*Run netledger verify for all findings\.\n$/,
    );
  });

  test("reports when nothing is old enough", async () => {
    await sandbox.setUp();
    const head = headIn((await verify()).out);
    for (const flags of [[], ["--keep", "daily"], ["--dry-run"]]) {
      const pruned = await prune("--before", "2020-01-01", ...flags);
      expect([pruned.code, pruned.out.split("\n")[0]]).toEqual([0, "Nothing is older than 2020-01-01T00:00:00.000Z."]);
    }
    expect(headIn((await verify()).out)).toBe(head);
  });
});

describe("netledger verify --head", () => {
  const finding = ({ code, out }: CommandResult) => [code, /^ {2}(?:transaction|known): .*$/m.exec(out)?.[0]];

  test("detects a truncated or recreated ledger, even without other evidence", async () => {
    const { key, networkId } = await sandbox.setUp();
    const truncated = sandbox.path("short.db");
    copyFileSync(database(), truncated);
    const running = await sandbox.serve();
    await running.withKey(key).post("subnets", { network_id: networkId, cidr: "10.0.0.0/24", name: "the last" });
    const { sequence, hash } = (await running.withKey(key).get("ledger")).data;
    const knownHead = `${sequence}:${hash}`;
    await running.stop();
    expect(finding(await verify("--head", knownHead))).toEqual([0, undefined]);
    expect(finding(await verify("--head", knownHead.toUpperCase()))).toEqual([0, undefined]);
    const zeros = "0".repeat(64);
    const otherHash = `  known: transaction ${sequence}: has the hash ${hash}, but --head gives ${zeros}`;
    expect(finding(await verify("--head", `${sequence}:${zeros}`))).toEqual([1, otherHash]);
    // As if the last transaction had never happened.
    copyFileSync(truncated, database());
    expect((await verify()).code).toBe(0);
    const mismatch = await verify("--head", knownHead);
    const missing = `  known: transaction ${sequence}: is given by --head, but not in the ledger`;
    expect(finding(mismatch)).toEqual([1, missing]);
    // A mistyped number must not lead to the replacement of intact data by a backup.
    expect(mismatch.out).toEndWith(
      "The data is otherwise intact. Either the value of --head is mistyped or belongs to other data, or a backup has been restored since, or the ledger was truncated or replaced.\n",
    );
  });
});
