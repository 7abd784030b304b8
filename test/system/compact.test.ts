// netledger compact with the compiled executable: packs data with complete versions, as written before schema 28,
// without changing its content.

import { describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWritable } from "../../src/db/connection.ts";
import { VersionPacker } from "../../src/history/pack-versions.ts";
import { sandboxForEach } from "../support/executable/sandboxes.ts";
import { withoutTriggers } from "../support/store/tampering.ts";

const sandbox = sandboxForEach(tmpdir());

const CHANGES = 300;

const database = () => join(sandbox.data, "netledger.db");
const compact = (...flags: string[]) => sandbox.command("compact", ...flags);

/** Stores every version unpacked, at the larger file size. */
function unpackAll(): void {
  const db = openWritable(database());
  const sequences = (db.$client.query("SELECT sequence FROM history_transactions").values() as number[][]).flat();
  const packer = new VersionPacker(db);
  const [records] = db.$client.query("SELECT max(n) FROM history_records").values()[0] as [number];
  withoutTriggers(db, () => {
    for (let n = 1; n <= records; n += 1) packer.unpackDependents(n, sequences);
  });
  db.$client.run("VACUUM");
  db.$client.run("PRAGMA wal_checkpoint(TRUNCATE)");
  db.$client.close();
}

function headIn(text: string): string {
  const [, sequence, hash] = /Last transaction: (\d+), at \S+, hash ([0-9a-f]{64})/.exec(text) ?? [];
  return `${sequence}:${hash}`;
}

describe("netledger compact", () => {
  test("previews its effect, applies it, and leaves all responses unchanged", async () => {
    const { key, networkId, running, client } = await sandbox.serveSetUp();
    const body = { cidr: "10.0.0.0/24", description: "a description that stays as it is ".repeat(20) };
    const { id } = (await client.post("subnets", { network_id: networkId, ...body, name: "first" })).data;
    for (let n = 1; n <= CHANGES; n += 1) await client.put(`subnets/${id}`, { ...body, name: `name ${n}` });
    await running.stop();
    unpackAll();
    const before = statSync(database()).size;
    const head = headIn((await sandbox.command("verify")).out);

    const readHistory = async () => {
      const restarted = await sandbox.serve();
      const reader = restarted.withKey(key);
      const history = (await reader.get(`subnets/${id}/history?limit=1000`)).data;
      const middle = history[CHANGES / 2];
      const pastState = (await reader.get(`subnets?at=${middle.record.updated_at}`)).data;
      expect(pastState).toMatchObject([{ id, name: middle.record.name }]);
      await restarted.stop();
      return { history, pastState };
    };
    const expected = await readHistory();
    expect(expected.history).toHaveLength(CHANGES + 1);

    const preview = await compact("--dry-run");
    expect(preview).toMatchObject({ code: 0, err: "" });
    const [, count, total] =
      /^Would pack (\d+) of (\d+) versions, saving \S+ [kMG]?B\.\nNothing was changed\.\n$/.exec(preview.out) ?? [];
    expect([Number(count) > 0.9 * CHANGES, Number(count) < Number(total)]).toEqual([true, true]);
    expect(statSync(database()).size).toBe(before);

    const packed = await compact();
    expect(packed).toMatchObject({ code: 0, err: "" });
    expect(packed.out).toStartWith(`Packed ${count} of ${total} versions, saving `);
    expect(packed.out).toContain("\nNo problems found.\n");
    expect(headIn(packed.out)).toBe(head);
    expect(statSync(database()).size).toBeLessThan(before - Number(count) * 500);
    expect((await sandbox.command("verify", "--head", head)).code).toBe(0);
    expect(await readHistory()).toEqual(expected);
    expect((await compact()).out).toStartWith(`Packed 0 of ${total} versions`);
  });

  test("refuses data in use, and leaves damaged data unchanged", async () => {
    const { running, client } = await sandbox.serveSetUp();
    const { id } = (await client.post("tags", { name: "one", color: "Red" })).data;
    await client.put(`tags/${id}`, { name: "two", color: "Red" });
    const refused = await compact();
    expect(refused).toMatchObject({ code: 3, out: "" });
    await running.stop();
    unpackAll();
    const db = openWritable(database());
    withoutTriggers(db, () =>
      db.$client.run("UPDATE history_versions SET members = replace(members, '\"two\"', '\"too\"')"),
    );
    db.$client.close();
    const damaged = await compact();
    expect(damaged).toMatchObject({ code: 3, out: "" });
    expect(damaged.err).toContain("The data is damaged and was not packed: ");
  });
});
