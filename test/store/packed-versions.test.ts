// Versions packed against an earlier one of their record, through the writer and through SQL: unpacking returns any
// original text.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  baseJoinSql,
  joinedObservedSql,
  joinedTextSql,
  packVersion,
  VERSIONS_PER_BASE,
  type VersionTexts,
  writtenSql,
} from "../../src/db/packing.ts";
import { compactHistory, estimateCompaction } from "../../src/history/compact.ts";
import { VersionPacker } from "../../src/history/pack-versions.ts";
import { verifyLedger } from "../../src/history/verify/verify.ts";
import { KINDS } from "../../src/records/resources.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { tagKind } from "../../src/resources/tags/tag.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { hostFields, Store, tagFields } from "../support/store/store.ts";
import { withoutTriggers } from "../support/store/tampering.ts";

const AT = "2026-11-23T03:12:00.000Z";
const tail = (at: string) => `,"updated_at":"${at}","valid_from":"${at}"`;

describe("a version", () => {
  const db = new Database(":memory:");
  db.run(`CREATE TABLE history_versions (key INTEGER PRIMARY KEY, valid_from TEXT, members TEXT, observed TEXT,
    sort_keys TEXT, patch INTEGER)`);
  const insert = db.prepare("INSERT OR REPLACE INTO history_versions VALUES ((7 << 31) | ?, ?, ?, ?, ?, ?)");
  const read = db.prepare(`SELECT ${writtenSql("v", "members")} AS members, ${writtenSql("v", "observed")} AS observed,
    ${writtenSql("v", "sort_keys")} AS sort_keys,
    ${joinedTextSql("v", "'<'", (isPacked) => [joinedObservedSql("v", isPacked), "'>'"])} AS document
    FROM history_versions v${baseJoinSql("v")} WHERE v.key = ((7 << 31) | 9)`);

  /** Packs a version, stores it and reads it back; null if it is stored complete. */
  const readBack = (base: VersionTexts, version: VersionTexts) => {
    const packed = packVersion({ ...base, sequence: 3 }, version, AT);
    if (packed === null) return null;
    insert.run(3, "2020-01-01T00:00:00.000Z", base.members, base.observed, base.sort_keys, null);
    insert.run(9, AT, packed.members, packed.observed, packed.sort_keys, packed.patch);
    return { ...(read.get() as VersionTexts & { document: string }), patch: packed };
  };

  test("reads as written, with any characters at the ends of its difference", () => {
    const random = seededRandom(41);
    // Characters of one to four bytes that differ in their last, first and middle bytes.
    const characters = ["a", "b", "é", "è", "Ω", "€", "₭", "語", "誟", "🙂", "🙃", "🜂", "\\u0000", '\\"', " "];
    const randomText = (count: number) =>
      Array.from({ length: random.integer(count) }, () => random.pick(characters)).join("");
    let packed = 0;
    for (let round = 0; round < 4_000; round += 1) {
      const [start, end] = ["x".repeat(60) + randomText(6), randomText(6) + "y".repeat(60)];
      const text = (between: string, at: string) => `"name":"${start}${between}${end}"${tail(at)}`;
      const base = { members: text(randomText(6), "2026-11-20T00:00:00.000Z"), observed: ',"s":1', sort_keys: null };
      const version = {
        members: text(randomText(6), AT),
        observed: random.pick([',"s":1', ',"s":2']),
        sort_keys: random.pick([null, "{}"]),
      };
      const found = readBack(base, version);
      if (found === null) continue;
      packed += 1;
      expect(found).toMatchObject({ ...version, document: `<${version.members}${version.observed}>` });
    }
    expect(packed).toBeGreaterThan(3_900);
  });

  test("stores no text if only the timestamp differs", () => {
    const texts = { members: `"name":"${"n".repeat(300)}"`, observed: "", sort_keys: '{"name":"n"}' };
    const textsAt = (instant: string) => ({ ...texts, members: texts.members + tail(instant) });
    const patch = { members: "", observed: "", sort_keys: null };
    expect(readBack(textsAt("2026-11-20T00:00:00.000Z"), textsAt(AT))).toMatchObject({ ...textsAt(AT), patch });
  });

  const isUnpacked = (base: Partial<VersionTexts>, version: Partial<VersionTexts>) => {
    const texts = { members: `"name":"${"n".repeat(300)}"${tail(AT)}`, observed: "", sort_keys: null };
    return readBack({ ...texts, ...base }, { ...texts, ...version }) === null;
  };
  test("is stored complete if half of its content or more differs", () => {
    expect(isUnpacked({}, {})).toBe(false);
    expect(isUnpacked({}, { members: `"name":"${"m".repeat(300)}"${tail(AT)}` })).toBe(true);
  });

  test("is stored complete if its end differs by more than the timestamp", () => {
    expect(isUnpacked({}, { members: `"name":"${"n".repeat(300)}"${tail("2026-11-23T03:12:00.001Z")}` })).toBe(true);
    expect(isUnpacked({}, { members: `"name":"${"n".repeat(300)}"${tail(AT)},"more":1` })).toBe(true);
  });

  test("is stored complete if it lacks a field of its base, which would otherwise reappear", () => {
    expect(isUnpacked({ observed: ',"s":1' }, {})).toBe(true);
    expect(isUnpacked({ sort_keys: "{}" }, {})).toBe(true);
  });

  test("is stored complete if it is too long for a patch", () => {
    const long = (between: string) => ({ members: `"name":"${"n".repeat(70_000)}${between}"${tail(AT)}` });
    expect(isUnpacked(long("a"), long("b"))).toBe(true);
  });

  test("is stored complete if its address or staleness differs, since indexes cover only complete versions", () => {
    const host = (more: string) => ({ members: `"name":"${"n".repeat(300)}"${more}${tail(AT)}` });
    expect(isUnpacked(host(',"ip_address":"10.0.0.1"'), host(',"ip_address":"10.0.0.2"'))).toBe(true);
    expect(isUnpacked(host(""), host(',"stale_since":"2026-11-01T00:00:00.000Z"'))).toBe(true);
    expect(isUnpacked(host(',"stale_since":"2026-11-01T00:00:00.000Z"'), host(""))).toBe(true);
    const between = (a: string, b: string) => host(`,"a":${a},"ip_address":"10.0.0.1","b":${b}`);
    expect(isUnpacked(between("1", "1"), between("1", "2"))).toBe(false);
    expect(isUnpacked(between("1", "1"), between("2", "2"))).toBe(true);
  });
});

describe("versions of a repeatedly changed record", () => {
  let store: Store;

  let id: string;
  const changes = 3 * VERSIONS_PER_BASE;

  beforeAll(() => {
    store = new Store({});

    id = store.write((tx) =>
      tx.create(hostKind, store.organizationId, hostFields(store.networkId, "a switch with a long name")),
    ).id;
    for (let change = 1; change <= changes; change += 1)
      store.write((tx) => tx.update(hostKind, id, { description: `change ${change}` }));
  });
  afterAll(() => store.close());

  const patches = (n: number) => {
    const bases = "SELECT patch >> 32 AS base FROM history_versions WHERE key >> 31 = ? ORDER BY key";
    return store.rows<{ base: number | null }>(bases, n).map(({ base }) => base);
  };

  test(`every ${VERSIONS_PER_BASE + 1}th version is complete, and the following are packed against it`, () => {
    const found = patches(store.n(id));
    expect(found).toHaveLength(changes + 1);
    for (const [index, base] of found.entries()) expect([index, base === null]).toEqual([index, index % 17 === 0]);
    const sequences = store.versions(id).map(({ sequence }) => sequence);
    for (const [index, base] of found.entries())
      if (base !== null) expect(base).toBe(sequences[index - (index % 17)] as number);
  });

  test("each version reads as written, and verifies by its hash", () => {
    for (const [index, { members }] of store.versions(id).entries())
      expect(JSON.parse(`{${members}}`).description ?? null).toBe(index === 0 ? null : `change ${index}`);
    expect(verifyLedger(store.db, KINDS).findings).toEqual([]);
  });

  test("the next version has no base if the record was deleted in between", () => {
    const tag = store.create(tagKind, tagFields(store.organizationId, "t")).id;
    store.write((tx) => tx.update(tagKind, tag, { name: "u" }));
    store.write((tx) => tx.remove(tagKind, tag));
    expect(patches(store.n(tag)).at(-1)).toBeNull();
    expect(verifyLedger(store.db, KINDS).findings).toEqual([]);
  });

  describe("with complete versions only, as written by earlier releases", () => {
    const rows = () => store.rows("SELECT * FROM history_versions ORDER BY key");
    const unpackedCount = () => store.rows("SELECT 1 FROM history_versions WHERE patch IS NULL").length;
    let packed: unknown[];
    let texts: unknown;
    let toPack: number;

    beforeEach(() => {
      packed = rows();
      texts = store.versions(id);
      toPack = packed.length - unpackedCount();
      const bases = packed.map((row) => Number((row as { key: number }).key % 2 ** 31));
      const packer = new VersionPacker(store.db);
      withoutTriggers(store.db, () => {
        for (let n = 1; n <= store.n(id) + 1; n += 1) packer.unpackDependents(n, bases);
      });
      expect(unpackedCount()).toBe(packed.length);
    });

    test("a compaction packs like the writer, and every version reads as before", () => {
      const preview = estimateCompaction(store.db);
      expect(unpackedCount()).toBe(packed.length);
      const { packed: count, savedBytes, versions, report } = compactHistory(store.db, KINDS);
      expect([count, versions, report.findings]).toEqual([toPack, packed.length, []]);
      expect(preview).toEqual({ packed: count, savedBytes, versions });
      expect(savedBytes).toBeGreaterThan(300 * (changes - 2));
      expect(rows()).toEqual(packed);
      expect(store.versions(id)).toEqual(texts as never);
      expect(compactHistory(store.db, KINDS).packed).toBe(0);
    });

    test("an interrupted compaction leaves them intact and guarded, and the next one continues from there", () => {
      let steps = 0;
      const interruptedCompaction = () =>
        compactHistory(store.db, KINDS, {
          stepVersions: 1,
          onStep: () => {
            steps += 1;
            if (unpackedCount() < packed.length) throw new Error("cut off");
          },
        });
      expect(interruptedCompaction).toThrow("cut off");
      const unpackedBefore = unpackedCount();
      expect(unpackedBefore).toBeGreaterThan(packed.length - toPack);
      expect(unpackedBefore).toBeLessThan(packed.length);
      expect(steps).toBeGreaterThan(1);
      expect(verifyLedger(store.db, KINDS).findings).toEqual([]);
      expect(() => store.db.$client.run("UPDATE history_versions SET patch = NULL")).toThrow("never changed");
      expect(compactHistory(store.db, KINDS).packed).toBe(unpackedBefore - (packed.length - toPack));
      expect(rows()).toEqual(packed);
    });

    test("damaged versions are not packed, since the damage could no longer be found", () => {
      withoutTriggers(store.db, () =>
        store.db.$client.run("UPDATE history_versions SET members = replace(members, 'change 3', 'change 4')"),
      );
      expect(() => compactHistory(store.db, KINDS)).toThrow("The data is damaged and was not packed");
      expect(unpackedCount()).toBe(packed.length);
      withoutTriggers(store.db, () => {
        const put = store.db.$client.query(
          "UPDATE history_versions SET members = $members, observed = $observed, patch = $patch WHERE key = $key",
        );
        for (const { members, observed, patch, key } of packed as Array<Record<string, number | string>>)
          put.run({ members, observed, patch, key } as Record<string, number | string>);
      });
      expect(verifyLedger(store.db, KINDS).findings).toEqual([]);
    });
  });
});
