// Known vulnerabilities of the executable's components, as reported by the registry before the run went offline.

import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { ADVISORIES_FILE, type Advisories } from "../../scripts/testing/advisories.ts";

test("no bundled package has a known vulnerability of high severity, if the registry is available", () => {
  expect(existsSync(ADVISORIES_FILE), "scripts/test --all queries the registry").toBe(true);
  const advisories = JSON.parse(readFileSync(ADVISORIES_FILE, "utf8")) as Advisories;
  if (advisories.outcome === "unavailable")
    console.log(`The registry reports no vulnerabilities (${advisories.reason}): the audit is skipped.`);
  else expect(advisories).toEqual({ outcome: "clean" });
});
