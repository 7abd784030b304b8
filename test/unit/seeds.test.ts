// Seeds for tests of the executable: created once for all processes, and never used if damaged, outdated or made for
// another executable.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { demoSlot, keyOfSeeds, type Seed, Seeds } from "../support/executable/seeds.ts";

const MAX_AGE_MS = 60_000;
const HOUR_MS = 3_600_000;
const START = Date.UTC(2026, 10, 21, 9, 0);

let folder: string;
let parent: string;
let now: number;
let copies = 0;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "netledger-seeds-"));
  parent = join(folder, "seeds");
  now = START;
});
afterEach(() => rmSync(folder, { recursive: true }));

const seeds = (key = "key") => new Seeds(parent, key, () => now);
/** Number of times a seed was created, by any process. */
const createdCount = () => (existsSync(join(folder, "made")) ? readFileSync(join(folder, "made"), "utf8").length : 0);

function seed(name = "set-up"): Seed<number> {
  return {
    name,
    maxAgeMs: MAX_AGE_MS,
    make: async (data) => {
      appendFileSync(join(folder, "made"), "x");
      mkdirSync(data);
      writeFileSync(join(data, "netledger.db"), `store ${createdCount()}`);
      writeFileSync(join(data, "netledger.key"), "key");
      return createdCount();
    },
  };
}

/** Copies the seed into a new directory. @returns the seed's note and the text of its store */
async function copySeed(from = seeds(), requested = seed()): Promise<[number, string]> {
  copies += 1;
  const target = join(folder, `copy-${copies}`);
  return [await from.put(requested, target), readFileSync(join(target, "netledger.db"), "utf8")];
}

/** A separate process that copies the seed; creating the seed blocks until a line arrives on its standard input. */
function otherProcess(name: string) {
  const script = `
    import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
    import { Seeds } from ${JSON.stringify(join(import.meta.dir, "../support/executable/seeds.ts"))};
    const make = async (data) => {
      appendFileSync(${JSON.stringify(join(folder, "made"))}, "x");
      console.log("making");
      for await (const _ of console) break;
      mkdirSync(data);
      writeFileSync(data + "/netledger.db", "store of another process");
      return 7;
    };
    const seed = { name: "set-up", maxAgeMs: ${MAX_AGE_MS}, make };
    console.log(await new Seeds(${JSON.stringify(parent)}, "key", () => ${START}).put(seed, process.argv[1]));
    process.exit();`;
  const child = Bun.spawn([process.execPath, "-e", script, join(folder, name)], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  return { child, nextLine: async () => (await lines.read()).value?.trim() };
}

describe("a test seed", () => {
  test("is created once and copied for others, with its note, and is readable by its owner only", async () => {
    for (const source of [seeds(), seeds(), seeds()]) expect(await copySeed(source)).toEqual([1, "store 1"]);
    const copy = join(folder, `copy-${copies}`);
    expect(readdirSync(copy).sort()).toEqual(["netledger.db", "netledger.key"]);
    expect([copy, join(copy, "netledger.key")].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
  });

  test("is created by one process while others wait", async () => {
    const creator = otherProcess("first");
    expect(await creator.nextLine()).toBe("making");
    const others = [otherProcess("second"), otherProcess("third")];
    const localCopy = copySeed();
    creator.child.stdin.write("\n");
    creator.child.stdin.flush();
    const lines = await Promise.all([creator, ...others].map(({ nextLine }) => nextLine()));
    expect(lines).toEqual(["7", "7", "7"]);
    expect([await localCopy, createdCount()]).toEqual([[7, "store of another process"], 1]);
    await Promise.all([creator, ...others].map(({ child }) => child.exited));
  });

  test("is created by the next process when its creator is killed, without leftovers", async () => {
    const creator = otherProcess("first");
    expect(await creator.nextLine()).toBe("making");
    const localCopy = copySeed();
    creator.child.kill("SIGKILL");
    expect(await localCopy).toEqual([2, "store 2"]);
    expect(readdirSync(join(parent, "key")).sort()).toEqual(["set-up", "set-up.lock"]);
  });

  test("is created again after a failure", async () => {
    const failing = { ...seed(), make: () => Promise.reject(new Error("no room")) };
    await expect(copySeed(seeds(), failing)).rejects.toThrow("no room");
    expect(await copySeed()).toEqual([1, "store 1"]);
    expect(readdirSync(join(parent, "key")).sort()).toEqual(["set-up", "set-up.lock"]);
  });

  test.each([
    ["a changed file", (path: string) => writeFileSync(join(path, "data/netledger.db"), "store X")],
    ["a truncated file", (path: string) => writeFileSync(join(path, "data/netledger.db"), "")],
    ["a missing file", (path: string) => rmSync(join(path, "data/netledger.key"))],
    ["an unreadable note", (path: string) => writeFileSync(join(path, "seed.json"), "{")],
    ["a missing note", (path: string) => rmSync(join(path, "seed.json"))],
  ])("is created again with %s", async (_, damage) => {
    await copySeed();
    damage(join(parent, "key/set-up"));
    for (let round = 0; round < 2; round += 1) expect(await copySeed()).toEqual([2, "store 2"]);
  });

  test("is used up to its maximum age, and not if it is from the future", async () => {
    await copySeed();
    now = START + MAX_AGE_MS;
    expect(await copySeed()).toEqual([1, "store 1"]);
    now = START + MAX_AGE_MS + 1;
    expect(await copySeed()).toEqual([2, "store 2"]);
    now = START;
    expect(await copySeed()).toEqual([3, "store 3"]);
  });

  test("is distinct per name and key", async () => {
    expect(await copySeed()).toEqual([1, "store 1"]);
    expect(await copySeed(seeds(), seed("demo"))).toEqual([2, "store 2"]);
    expect(await copySeed(seeds("other"))).toEqual([3, "store 3"]);
  });

  test("is deleted after an hour if it has another key", async () => {
    await copySeed(seeds("old"));
    await copySeed(seeds("recent"));
    utimesSync(join(parent, "old"), new Date(START - HOUR_MS - 1), new Date(START - HOUR_MS - 1));
    utimesSync(join(parent, "recent"), new Date(START), new Date(START));
    await copySeed();
    expect(readdirSync(parent).sort()).toEqual(["key", "recent"]);
  });
});

test("the seed key changes with the executable, its inputs and the scripts that create seeds", () => {
  const [executable, creator] = [join(folder, "netledger"), join(folder, "creator.ts")];
  writeFileSync(executable, "one");
  writeFileSync(creator, "one");
  utimesSync(executable, START / 1000, START / 1000);
  const key = (fingerprint = "abc") => keyOfSeeds(executable, fingerprint, [creator]);
  const first = key();
  expect([key(), key("abd") === first]).toEqual([first, false]);
  utimesSync(executable, START / 1000, START / 1000 + 1);
  const touched = key();
  writeFileSync(executable, "other");
  utimesSync(executable, START / 1000, START / 1000 + 1);
  const longer = key();
  writeFileSync(creator, "two");
  expect(new Set([first, touched, longer, key()]).size).toBe(4);
});

test("a demo is used until a scheduled scan is due, or would be part of a new demo, and until midnight UTC", () => {
  const slots = (times: readonly string[]) =>
    new Set(times.map((time) => demoSlot(Date.parse(`2026-11-21T${time}Z`)))).size;
  expect(slots(["09:05:00", "10:30:00", "11:59:59"])).toBe(1);
  expect(slots(["08:59:59", "09:00:00", "09:05:00"])).toBe(3);
  expect(slots(["03:11:59", "03:12:00", "03:17:00", "03:41:00", "03:46:00"])).toBe(5);
  expect(demoSlot(Date.UTC(2026, 10, 21, 23, 59))).not.toBe(demoSlot(Date.UTC(2026, 10, 22, 0, 0)));
});
