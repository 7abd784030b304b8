// Known vulnerabilities of the packages that go into the executable, as the registry reports them. Run as a script it
// asks the configured registry before a test run leaves the network, and keeps the answer for the run.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "../..");

/** The answer of the configured registry: JSON of an Advisories. */
export const ADVISORIES_FILE = join(ROOT, "dist/advisories.json");

export type Advisories =
  | { readonly outcome: "clean" }
  | { readonly outcome: "vulnerable"; readonly packages: string[] }
  | { readonly outcome: "left out"; readonly reason: string };

/**
 * Asks a registry for advisories of high severity and above.
 * @param registry its address; null for the configured one
 * @throws Error where `bun audit` reports neither advisories nor a refusal of the registry
 */
export async function askAdvisories(registry: string | null): Promise<Advisories> {
  const env = {
    ...process.env,
    ...(registry === null ? {} : { BUN_CONFIG_REGISTRY: registry, NPM_CONFIG_REGISTRY: registry }),
  };
  const child = Bun.spawn([process.execPath, "audit", "--production", "--audit-level=high", "--json"], {
    cwd: ROOT,
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  // The registry cannot be reached, or is one without advisories.
  const refusal = /^error: POST \S+ - (\w+)/m.exec(err)?.[1];
  if (refusal !== undefined) return { outcome: "left out", reason: refusal };
  const found = Object.keys(JSON.parse(out) as object);
  if (found.length === 0 && code === 0) return { outcome: "clean" };
  if (found.length > 0 && code !== 0) return { outcome: "vulnerable", packages: found };
  throw new Error(`bun audit ended with ${code}: ${out}${err}`);
}

if (import.meta.main) {
  mkdirSync(dirname(ADVISORIES_FILE), { recursive: true });
  writeFileSync(ADVISORIES_FILE, JSON.stringify(await askAdvisories(null)));
}
