// UUIDs: format, and generation.

import { describe, expect, test } from "bun:test";
import type { Random } from "../../src/base/random.ts";
import { isUuid, UuidSource } from "../../src/base/uuid.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

const AT = 1_795_252_500_123;

const allOnes: Random = { bytes: (count) => new Uint8Array(count).fill(0xff) };

function millisecondsIn(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

describe("isUuid", () => {
  test.each([
    "00000000-0000-0000-0000-000000000000",
    "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
    "c232ab00-9414-11ec-b3c8-9f6bdeced846",
    "5df41881-3aed-3515-88a7-2f4a814cf09e",
    "919108f7-52d1-4320-9bac-f847db4148a8",
    "017F22E2-79B0-7CC3-98C4-DC0C0C07398F",
    "2489e9ad-2ee2-8e00-8ec9-32d5f69181c0",
  ])("accepts %s", (text) => expect(isUuid(text)).toBe(true));

  test.each([
    "",
    "919108f7-52d1-4320-9bac-f847db4148a",
    "919108f7-52d1-4320-9bac-f847db4148a88",
    "919108f752d143209bacf847db4148a8",
    "{919108f7-52d1-4320-9bac-f847db4148a8}",
    "urn:uuid:919108f7-52d1-4320-9bac-f847db4148a8",
    "919108f7-52d1-4320-9bac-f847db4148ag",
    "919108f75-2d1-4320-9bac-f847db4148a8",
    " 919108f7-52d1-4320-9bac-f847db4148a8",
    "919108f7-52d1-4320-9bac-f847db4148a8\n",
  ])("rejects %j", (text) => expect(isUuid(text)).toBe(false));
});

describe("UuidSource", () => {
  test("generates lower-case UUIDv7 of the RFC 9562 variant that contain their millisecond", () => {
    const source = new UuidSource(seededRandom(1));
    for (let round = 0; round < 1_000; round += 1) {
      const id = source.next(AT + round * 7);
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(isUuid(id)).toBe(true);
      expect(millisecondsIn(id)).toBe(AT + round * 7);
    }
  });

  test("arranges time, version, variant and randomness as in RFC 9562 §5.7", () => {
    // The example of its appendix A.6, with a source that draws its random bits: 42 bits of counter, then 32 bits.
    const counter = 0xcc3n * 2n ** 30n + 0x18c4dc0cn;
    const draws = [Buffer.from(counter.toString(16).padStart(12, "0"), "hex"), Buffer.from("0c07398f", "hex")];
    const source = new UuidSource({ bytes: () => draws.shift() ?? new Uint8Array() });
    expect(source.next(0x017f22e279b0)).toBe("017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
  });

  test("never repeats and strictly increases within one millisecond", () => {
    const source = new UuidSource(seededRandom(2));
    let previous = source.next(AT);
    for (let round = 0; round < 50_000; round += 1) {
      const id = source.next(AT);
      if (!(id > previous)) throw new Error(`${id} does not follow ${previous}`);
      previous = id;
    }
    expect(millisecondsIn(previous)).toBe(AT);
  });

  test("keeps increasing when the clock is set back, and follows the clock once it has caught up", () => {
    const source = new UuidSource(seededRandom(3));
    const ids = [AT, AT - 86_400_000, AT - 1, 0, AT, AT + 1].map((ms) => source.next(ms));
    expect(ids).toEqual(ids.toSorted());
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.map(millisecondsIn)).toEqual([AT, AT, AT, AT, AT, AT + 1]);
  });

  test("strictly increases regardless of the clock", () => {
    const random = seededRandom(4);
    const source = new UuidSource(random);
    let at = AT;
    let previous = "";
    for (let round = 0; round < 20_000; round += 1) {
      at += random.integer(7) - 3;
      const id = source.next(at);
      if (!(id > previous)) throw new Error(`${id} does not follow ${previous}`);
      previous = id;
    }
    expect(previous).not.toBe("");
  });

  test("moves to the next millisecond when the counter overflows", () => {
    const source = new UuidSource(allOnes);
    const ids = [AT, AT, AT - 5, AT + 3].map((ms) => source.next(ms));
    expect(ids).toEqual(ids.toSorted());
    expect(new Set(ids).size).toBe(4);
    expect(ids.map(millisecondsIn)).toEqual([AT, AT + 1, AT + 2, AT + 3]);
  });

  test("draws fresh random bits for every id", () => {
    const source = new UuidSource(seededRandom(5));
    expect(new Set(Array.from({ length: 100 }, () => source.next(AT).slice(-8))).size).toBe(100);
  });
});
