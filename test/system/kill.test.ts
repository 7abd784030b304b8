// Durability of acknowledged writes under kill -9, and an intact ledger afterwards.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writtenSql } from "../../src/db/packing.ts";
import type { Running } from "../support/executable/executable.ts";
import { sandboxForEach } from "../support/executable/sandboxes.ts";

/** Number of concurrent connections, and of acknowledged writes before each kill. */
const WRITERS = 8;
const ACKNOWLEDGED = 300;
const KILLS = 3;

interface Acknowledged {
  readonly name: string;
  readonly updatedAt: string;
}

const sandbox = sandboxForEach(tmpdir());

test("kill -9 under concurrent writes loses no acknowledged write", async () => {
  const { key, networkId } = await sandbox.setUp();
  /** By id; null for acknowledged deletions. */
  const acknowledged = new Map<string, Acknowledged | null>();
  /** Ids with an unanswered last request: either state is correct. */
  const inDoubt = new Set<string>();
  let nextSubnet = 0;

  for (let kill = 0; kill < KILLS; kill += 1) {
    const running = await sandbox.serve();
    await expectAcknowledged(running, key, acknowledged, inDoubt);
    const enough = Promise.withResolvers<void>();
    let count = 0;
    const acknowledge = (id: string, state: Acknowledged | null) => {
      acknowledged.set(id, state);
      inDoubt.delete(id);
      count += 1;
      if (count >= ACKNOWLEDGED) enough.resolve();
    };
    const writers = Array.from({ length: WRITERS }, async () => {
      const client = running.withKey(key);
      for (;;) {
        nextSubnet += 1;
        const number = nextSubnet;
        const cidr = `10.${number >> 8}.${number & 255}.0/24`;
        const id = crypto.randomUUID();
        inDoubt.add(id);
        const created = await client.post("subnets", { id, network_id: networkId, cidr, name: `created ${number}` });
        expect(created.status).toBe(200);
        acknowledge(id, { name: created.data.name, updatedAt: created.data.updated_at });
        if (number % 3 === 0) {
          inDoubt.add(id);
          const renamed = await client.put(`subnets/${id}`, { network_id: networkId, cidr, name: `renamed ${number}` });
          expect(renamed.status).toBe(200);
          acknowledge(id, { name: renamed.data.name, updatedAt: renamed.data.updated_at });
        }
        if (number % 5 === 0) {
          inDoubt.add(id);
          expect((await client.delete(`subnets/${id}`)).status).toBe(200);
          acknowledge(id, null);
        }
      }
    }).map((writer) => writer.catch((error: unknown) => error));

    await Promise.race([enough.promise, ...writers.map(async (writer) => Promise.reject(await writer))]);
    running.kill("SIGKILL");
    expect((await running.exited).signal).toBe("SIGKILL");
    for (const error of await Promise.all(writers))
      expect(String(error)).toMatch(/ECONNRESET|ECONNREFUSED|closed|connect/i);
    expect(acknowledged.size).toBeGreaterThan(ACKNOWLEDGED / 2);
  }

  const running = await sandbox.serve();
  await expectAcknowledged(running, key, acknowledged, inDoubt);
  expect((await running.stop()).code).toBe(0);
  expectIntact(join(sandbox.data, "netledger.db"));
  const verified = await sandbox.command("verify");
  expect([verified.code, verified.err]).toEqual([0, ""]);
});

async function expectAcknowledged(
  running: Running,
  key: string,
  acknowledged: ReadonlyMap<string, Acknowledged | null>,
  inDoubt: ReadonlySet<string>,
): Promise<void> {
  const list = await running.withKey(key).get("subnets?limit=0");
  expect(list.status).toBe(200);
  const found = new Map<string, Acknowledged>();
  for (const subnet of list.data) found.set(subnet.id, { name: subnet.name, updatedAt: subnet.updated_at });
  const mismatches: unknown[] = [];
  for (const [id, state] of acknowledged) {
    if (!inDoubt.has(id) && !Bun.deepEquals(found.get(id) ?? null, state))
      mismatches.push({ id, acknowledged: state, found: found.get(id) ?? null });
  }
  expect(mismatches).toEqual([]);
  // No record exists that was never requested.
  expect([...found.keys()].filter((id) => !acknowledged.has(id) && !inDoubt.has(id))).toEqual([]);
}

/** Expects SQLite's checks to pass, a ledger without gaps, and live rows that match the latest versions. */
function expectIntact(path: string): void {
  const db = new Database(path, { readonly: true });
  try {
    expect(db.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
    expect(db.query("PRAGMA foreign_key_check").values()).toEqual([]);
    expect(
      db.query("SELECT count(*) = max(sequence), count(DISTINCT at) = count(*) FROM history_transactions").values(),
    ).toEqual([[1, 1]]);
    const differing = db.query(`SELECT r.id FROM history_records r LEFT JOIN subnets s ON s.n = r.n
      JOIN history_versions v ON v.key = (SELECT max(key) FROM history_versions WHERE key >> 31 = r.n)
      WHERE r.kind = (SELECT kind FROM history_records WHERE n = (SELECT n FROM subnets LIMIT 1))
        AND ${writtenSql("v", "members")} IS NOT s.members AND NOT (v.operation = 3 AND s.n IS NULL)`);
    expect(differing.values()).toEqual([]);
  } finally {
    db.close();
  }
}
