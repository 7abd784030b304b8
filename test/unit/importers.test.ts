// Importers for other products' inventories: the functions that need no network.

import { describe, expect, test } from "bun:test";
import { nearestColor } from "../../src/importers/colors.ts";
import { forEachConcurrently, prefetched } from "../../src/importers/concurrency.ts";
import { onOneLine } from "../../src/importers/json-client.ts";
import { KnownSubnets } from "../../src/importers/known-subnets.ts";
import { isReasonOf } from "../../src/importers/local-changes.ts";
import { ifTypeOf } from "../../src/importers/netbox/interface-types.ts";
import { addressOf, choiceOf } from "../../src/importers/netbox/netbox-fields.ts";
import { idOf, nameOf } from "../../src/importers/object-fields.ts";
import { idOfUrl } from "../../src/importers/object-ids.ts";
import { ImportPlan, PlanTally } from "../../src/importers/plan.ts";
import { PrefixMap } from "../../src/importers/prefix-places.ts";

test("an object's id is the UUIDv5 of its URL, as in any other implementation", () => {
  expect(idOfUrl("https://netbox.example.com/api/dcim/devices/12/")).toBe("a7a4e1a6-ac44-5ddf-ac1a-f3c7812b4341");
  expect(idOfUrl("https://netbox.example.com/api/dcim/devices/13/")).not.toBe("a7a4e1a6-ac44-5ddf-ac1a-f3c7812b4341");
});

test.each([
  ["ef4444", "Red"],
  ["#3B82F6", "Blue"],
  ["f44336", "Red"],
  ["000000", "Gray"],
  ["red", "Gray"],
  [null, "Gray"],
] as const)("the color %p becomes %s", (text, color) => expect(nearestColor(text)).toBe(color));

test.each([
  ["1000base-t", 6],
  ["10gbase-x-sfpp", 6],
  ["5gbase-t", 6],
  ["5g", 243],
  ["400gbase-x-osfp", 6],
  ["16gfc-sfpp", 56],
  ["virtual", 53],
  ["lag", 161],
  ["bridge", 209],
  ["ieee802.11ax", 71],
  ["sonet-oc48", 39],
  ["infiniband-hdr", 199],
  ["cisco-stackwise-480", 6],
  ["other", 1],
  ["something new", 1],
  [null, null],
] as const)("an interface of type %p has the ifType %p", (slug, ifType) => expect(ifTypeOf(slug)).toBe(ifType));

test("a change belongs to an import by exact source URL, not by prefix", () => {
  const source = "Import from NetBox at http://nb";
  const reasons = [source, `${source}: monthly`, `${source}2`, `${source}2: monthly`, `${source}:8080`, "", null];
  expect(reasons.map((reason) => isReasonOf(reason, source))).toEqual([true, true, false, false, false, false, false]);
});

describe("a source object's field", () => {
  test("is read only in the expected form", () => {
    expect(idOf({ id: 3 })).toBe(3);
    for (const value of [{ id: "3" }, { id: 0 }, { id: 1.5 }, [3], 3, null, undefined]) expect(idOf(value)).toBeNull();
    expect(nameOf({ name: " a " })).toBe("a");
    expect(nameOf({ name: null, display: "b" })).toBe("b");
    expect(nameOf({ name: {} })).toBeNull();
    expect(choiceOf({ value: "lag", label: "LAG" })).toBe("lag");
    expect(choiceOf("lag")).toBe("lag");
  });

  test("is an address only with a valid prefix length", () => {
    expect(addressOf("10.0.0.5/24")).toEqual({ ip: "10.0.0.5", prefixLength: 24 });
    expect(addressOf("2001:DB8::5/64")).toEqual({ ip: "2001:db8::5", prefixLength: 64 });
    for (const text of ["10.0.0.5", "10.0.0.5/33", "2001:db8::/129", "a/24", "10.0.0.5/24/24", "", null, 5])
      expect(addressOf(text)).toBeNull();
  });
});

test("a network contains addresses if one of its prefixes contains all of them", () => {
  const subnets = new KnownSubnets();
  subnets.add("n", "10.0.0.0/25");
  subnets.add("n", "10.0.0.128/25");
  subnets.add("n", "2001:db8::/64");
  expect(subnets.contains("n", "10.0.0.5")).toBe(true);
  expect(subnets.contains("n", "10.0.0.5", "10.0.0.9")).toBe(true);
  expect(subnets.contains("n", "10.0.0.5", "10.0.0.200")).toBe(false);
  expect(subnets.contains("n", "10.0.0.5", "2001:db8::1")).toBe(false);
  expect(subnets.contains("n", "2001:db8::1")).toBe(true);
  expect(subnets.contains("other", "10.0.0.5")).toBe(false);
  expect(subnets.contains("n", "nonsense")).toBe(false);
});

test("an address has the location of the smallest prefix that contains it in the same space", () => {
  const locations = new PrefixMap<string | null>();
  locations.add("", "10.0.0.0/8", "all");
  locations.add("", "10.1.0.0/16", null);
  locations.add("red", "10.1.1.0/24", "red");
  expect(locations.lookup("", "10.2.0.1")).toBe("all");
  expect(locations.lookup("", "10.1.1.1")).toBeNull();
  expect(locations.lookup("red", "10.1.1.1")).toBe("red");
  expect(locations.lookup("red", "10.2.0.1")).toBeUndefined();
});

describe("an import plan", () => {
  test("counts refused objects and local changes, and lists them up to a limit", () => {
    const plan = new ImportPlan(false);
    plan.add("hosts", "created", "a");
    for (let index = 0; index < 60; index += 1) plan.refuse("addresses", `url ${index}`, "why");
    const tally = new PlanTally();
    tally.addChange("hosts", "b", ["name"], ["model was changed by ann at noon"]);
    tally.addChange("hosts", "c", [], ["name was changed by ann at noon"]);
    tally.addChange("hosts", "d", [], []);
    plan.take(tally);
    const text = plan.text();
    expect(text).toMatch(/^hosts +1 +1 +1 +1 +0$/m);
    expect(text).toMatch(/^addresses +0 +0 +0 +0 +60$/m);
    expect(text).toContain("  addresses: url 49: why\n  and 10 more; --verbose lists all\n");
    expect(text).not.toContain("url 50");
    expect(text).toContain("  hosts: c name was changed by ann at noon\n  hosts: b model was changed by ann at noon\n");
    expect(plan.takeLines()).toBe("");
  });

  test("returns every line once in verbose mode", () => {
    const plan = new ImportPlan(true);
    plan.add("hosts", "created", "a");
    plan.refuse("tags", "url", "why");
    expect(plan.takeLines()).toBe("created hosts: a\nrefused tags: url: why\n");
    expect(plan.takeLines()).toBe("");
    expect(plan.text()).not.toContain("why");
  });
});

test("text from another program is printed without terminal control characters, up to a limit", () => {
  expect(onOneLine("a\u001b[31mb\u202ec\n")).toBe("a\ufffd[31mb\ufffdc\ufffd");
  expect(onOneLine("x".repeat(1_000_000))).toHaveLength(201);
});

describe("bounded concurrency", () => {
  test("processes all items, no more at once than allowed", async () => {
    let running = 0;
    let maxRunning = 0;
    const done: number[] = [];
    await forEachConcurrently([1, 2, 3, 4, 5], 2, async (item) => {
      running += 1;
      maxRunning = Math.max(maxRunning, running);
      await Promise.resolve();
      running -= 1;
      done.push(item);
    });
    expect([done.sort(), maxRunning]).toEqual([[1, 2, 3, 4, 5], 2]);
  });

  test("fetches one item ahead, and reports a failure in order", async () => {
    const requested: number[] = [];
    async function* numbers() {
      for (const number of [1, 2, 3]) {
        requested.push(number);
        if (number === 3) throw new Error("no more");
        yield number;
      }
    }
    const received: string[] = [];
    const walk = (async () => {
      for await (const number of prefetched(numbers())) {
        await Promise.resolve();
        received.push(`${number} of ${requested.length}`);
      }
    })();
    expect(walk).rejects.toThrow("no more");
    await walk.catch(() => {});
    expect(received).toEqual(["1 of 2", "2 of 3"]);
  });
});
