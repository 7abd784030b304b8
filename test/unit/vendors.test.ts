// Manufacturer by MAC address: the program's registry compared with its source package.

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { packRegistry, type Registry, registrationOf, unpackRegistry } from "../../src/base/vendors/registry-format.ts";
import { findRegistration, macInfo, vendorOf } from "../../src/base/vendors/vendor.ts";
import { processorMs } from "../support/measure/processor-time.ts";

const source = JSON.parse(readFileSync(Bun.resolveSync("oui-data", import.meta.dir), "utf8")) as Record<string, string>;

function macOf(prefix: string, filler = "f"): string {
  return prefix
    .toLowerCase()
    .padEnd(12, filler)
    .replace(/(..)(?=.)/g, "$1:");
}

describe("vendorOf", () => {
  test("names the registrant of every registry prefix, by its first line", () => {
    const wrong: string[] = [];
    let checkedCount = 0;
    for (const [prefix, text] of Object.entries(source)) {
      // Some contain spaces of other scripts.
      const name = (text.split("\n")[0] ?? "").replace(/\s+/g, " ");
      const isPersonal = (Number.parseInt(prefix.slice(0, 2), 16) & 3) === 0;
      const expected = isPersonal && name !== "Private" && name !== "IEEE Registration Authority" ? name : null;
      // Addresses under a longer prefix belong to that one.
      const mac = ["f", "0", "7", "8"]
        .map((filler) => macOf(prefix, filler))
        .find((address) => longestPrefix(address) === prefix);
      if (mac === undefined) continue;
      checkedCount += 1;
      if (vendorOf(mac) !== expected) wrong.push(`${mac}: ${vendorOf(mac)} and not ${expected}`);
    }
    expect(wrong).toEqual([]);
    expect(checkedCount).toBeGreaterThan(50_000);
  });

  test("uses the longest prefix: nine digits before seven before six", () => {
    const longerPrefixes = Object.keys(source).filter(
      (prefix) =>
        prefix.length > 6 &&
        source[prefix.slice(0, 6)] !== undefined &&
        (Number.parseInt(prefix.slice(0, 2), 16) & 3) === 0,
    );
    expect(longerPrefixes.length).toBeGreaterThan(1_000);
    const prefix = longerPrefixes.find(
      (candidate) => candidate.length === 9 && !["Private", ""].includes(source[candidate]?.split("\n")[0] ?? ""),
    );
    expect(prefix).toBeDefined();
    expect(vendorOf(macOf(prefix ?? ""))).toBe(source[prefix ?? ""]?.split("\n")[0] ?? "");
  });

  test("returns null for locally administered, group and unregistered addresses", () => {
    expect(vendorOf("02:42:ac:11:00:02")).toBeNull();
    expect(vendorOf("ff:ff:ff:ff:ff:ff")).toBeNull();
    expect(vendorOf("01:00:5e:00:00:01")).toBeNull();
    const unregistered = ["fc:ff:ff:00:00:01", "f8:ff:ff:00:00:01", "00:ff:ff:00:00:01"].find(
      (mac) => longestPrefix(mac) === null,
    );
    expect(unregistered).toBeDefined();
    expect(vendorOf(unregistered ?? "")).toBeNull();
  });

  test("knows a common vendor", () => expect(vendorOf("00:00:0c:12:34:56")).toBe("Cisco Systems, Inc"));

  test("looks up 100,000 addresses in less than a second", async () => {
    const elapsedMs = await processorMs(() => {
      for (let index = 0; index < 100_000; index += 1) vendorOf("f4:a4:54:e1:23:45");
    });
    expect(elapsedMs).toBeLessThan(1_000);
  });
});

describe("macInfo", () => {
  test.each([
    ["00:1b:21:aa:bb:cc", "Intel Corporate", "Universal", null],
    ["00:00:5e:00:01:0a", "ICANN, IANA Department", "VirtualRouter", "VRRP virtual router 10"],
    ["00:00:0c:07:ac:01", "Cisco Systems, Inc", "VirtualRouter", "HSRP group 1"],
    ["02:42:ac:11:00:02", null, "LocallyAdministered", "Docker container"],
    ["da:a1:19:00:00:01", null, "LocallyAdministered", null],
    ["01:80:c2:00:00:0e", null, "Multicast", "LLDP (IEEE 802.1AB)"],
    ["01:00:5e:00:00:fb", null, "Multicast", "IPv4 multicast"],
    ["ff:ff:ff:ff:ff:ff", null, "Broadcast", "Broadcast"],
  ])("returns for %s: %p, %s, %p", (mac, vendor, type, use) => {
    expect(macInfo(mac) as unknown).toEqual({ vendor, type, known_use: use });
  });

  test("finds the block of an address, and for an OUI no smaller block", () => {
    expect(findRegistration("00:1b:21:aa:bb:cc")).toEqual({ prefix: "001b21", name: "Intel Corporate" });
    expect(findRegistration("00:1b:21")).toEqual({ prefix: "001b21", name: "Intel Corporate" });
    const subdividedPrefix = Object.keys(source).find(
      (candidate) => candidate.length === 9 && source[candidate.slice(0, 6)]?.startsWith("IEEE Registration") === true,
    );
    expect(subdividedPrefix).toBeDefined();
    expect(findRegistration(macOf((subdividedPrefix ?? "").slice(0, 6)).slice(0, 8))).toBeNull();
    expect(findRegistration(macOf(subdividedPrefix ?? ""))?.prefix).toBe((subdividedPrefix ?? "").toLowerCase());
  });
});

describe("the packed registry", () => {
  const entries = {
    "0050C2001": "Small\nStreet 1\nTown",
    "0050C20": "  Middle  One ",
    "0050C2": "Large",
    "00000A": "Large\nElsewhere",
    FFFFFFFFE: "Last",
  };

  test("round-trips", () => {
    const registry = unpackRegistry(packRegistry(entries));
    expect(registrationName(registry, "0050c2001fff")).toBe("Small");
    expect(registrationName(registry, "0050c2002fff")).toBe("Middle One");
    expect(registrationName(registry, "0050c2f02fff")).toBe("Large");
    expect(registrationName(registry, "00000a000000")).toBe("Large");
    expect(registrationName(registry, "ffffffffe000")).toBe("Last");
    expect(registrationName(registry, "fffffffff000")).toBeNull();
    expect(registrationName(registry, "000000000000")).toBeNull();
  });

  test("refuses prefixes of another length and malformed ones", () => {
    expect(() => packRegistry({ "0050C": "Short" })).toThrow("0050C");
    expect(() => packRegistry({ "0050CG": "No digit" })).toThrow("0050CG");
  });
});

function registrationName(registry: Registry, hex: string): string | null {
  return registrationOf(registry, hex)?.name ?? null;
}

function longestPrefix(mac: string): string | null {
  const hex = mac.replaceAll(":", "").toUpperCase();
  return [9, 7, 6].map((digits) => hex.slice(0, digits)).find((prefix) => source[prefix] !== undefined) ?? null;
}
