// Same-origin checks by Origin, Sec-Fetch-Site and Host.

import { describe, expect, test } from "bun:test";
import { type OriginHeaders, originAllowed } from "../../src/sessions/origin.ts";

const headers = (changes: Partial<OriginHeaders>): OriginHeaders => ({
  origin: null,
  secFetchSite: null,
  host: "inventory.example:8080",
  ...changes,
});

test("a request without Origin and Sec-Fetch-Site is accepted, as from a script", () => {
  expect(originAllowed(headers({}))).toBe(true);
  expect(originAllowed(headers({ host: null }))).toBe(true);
});

describe("Sec-Fetch-Site", () => {
  test.each(["same-origin", "none"])("%s is accepted", (secFetchSite) => {
    expect(originAllowed(headers({ secFetchSite }))).toBe(true);
    expect(originAllowed(headers({ secFetchSite, origin: "http://inventory.example:8080" }))).toBe(true);
  });

  test.each(["cross-site", "same-site", "", "Same-Origin", "same-origin, cross-site", "made-up"])(
    "%j is refused with any Origin",
    (secFetchSite) => {
      expect(originAllowed(headers({ secFetchSite }))).toBe(false);
      expect(originAllowed(headers({ secFetchSite, origin: "http://inventory.example:8080" }))).toBe(false);
    },
  );

  test("does not permit a cross-site Origin", () => {
    expect(originAllowed(headers({ secFetchSite: "same-origin", origin: "https://evil.example" }))).toBe(false);
  });
});

describe("an Origin of the appliance", () => {
  test.each([
    ["http://inventory.example:8080", "inventory.example:8080"],
    ["https://inventory.example:8080", "inventory.example:8080"],
    ["HTTP://Inventory.EXAMPLE:8080", "inventory.example:8080"],
    ["http://inventory.example:8080", "INVENTORY.example:8080"],
    ["http://inventory.example", "inventory.example"],
    ["http://inventory.example", "inventory.example:80"],
    ["http://inventory.example:80", "inventory.example"],
    ["https://inventory.example", "inventory.example"],
    ["https://inventory.example", "inventory.example:443"],
    ["https://inventory.example:443", "inventory.example"],
    ["http://127.0.0.1:8080", "127.0.0.1:8080"],
    ["http://[::1]:8080", "[::1]:8080"],
    ["http://[2001:DB8::1]", "[2001:db8:0::1]"],
    ["http://xn--bcher-kva.example", "bücher.example"],
  ])("%s for Host %s is accepted", (origin, host) => expect(originAllowed(headers({ origin, host }))).toBe(true));
});

describe("a cross-site Origin", () => {
  test.each([
    ["null", "null"],
    ["", "inventory.example"],
    ["https://evil.example", "inventory.example"],
    ["http://inventory.example", "inventory.example:8080"],
    ["http://inventory.example:8080", "inventory.example"],
    ["http://inventory.example", "inventory.example:443"],
    ["https://inventory.example", "inventory.example:80"],
    ["http://www.inventory.example", "inventory.example"],
    ["http://inventory.example.evil.example", "inventory.example"],
    ["http://inventory.example@evil.example", "evil.example"],
    ["http://evil.example", "inventory.example@evil.example"],
    ["http://evil.example", "evil.example/inventory.example"],
    ["http://inventory.example/", "inventory.example"],
    ["http://inventory.example/path", "inventory.example"],
    ["http://inventory.example?x", "inventory.example"],
    ["http://inventory.example http://evil.example", "inventory.example"],
    ["http://inventory.example, http://evil.example", "inventory.example"],
    ["//inventory.example", "inventory.example"],
    ["inventory.example", "inventory.example"],
    ["ftp://inventory.example", "inventory.example"],
    ["file://", "inventory.example"],
    ["chrome-extension://inventory.example", "inventory.example"],
    ["http://inventory.example:99999", "inventory.example:99999"],
    ["http://inventory.example", ""],
  ])("%j for Host %j is refused", (origin, host) => expect(originAllowed(headers({ origin, host }))).toBe(false));

  test("is assumed without a Host to compare", () => {
    expect(originAllowed(headers({ origin: "http://inventory.example:8080", host: null }))).toBe(false);
  });
});

test("a proxy that rewrites Host makes every page cross-site, and must forward it", () => {
  expect(originAllowed(headers({ origin: "https://inventory.example", host: "10.0.0.5:8080" }))).toBe(false);
});
