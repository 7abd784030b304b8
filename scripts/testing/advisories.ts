// Known vulnerabilities of the executable's packages, as reported by the registry. Run as a script, it queries the
// configured registry before a test run goes offline, and stores the response for the run.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "../..");

/** Stored response of the configured registry: `Advisories` as JSON. */
export const ADVISORIES_FILE = join(ROOT, "dist/advisories.json");

export type Advisories =
  | { readonly outcome: "clean" }
  | { readonly outcome: "vulnerable"; readonly packages: string[] }
  | { readonly outcome: "unavailable"; readonly reason: string };

/**
 * Queries a registry for advisories of high severity and above.
 * @param registry URL of the registry; null for the configured one
 * @throws Error if `bun audit` reports neither advisories nor a refusal of the registry
 */
export async function fetchAdvisories(registry: string | null): Promise<Advisories> {
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
  // The registry is unreachable, or has no advisories.
  const refusal = /^error: POST \S+ - (\w+)/m.exec(err)?.[1];
  if (refusal !== undefined) return { outcome: "unavailable", reason: refusal };
  const found = Object.keys(JSON.parse(out) as object);
  if (found.length === 0 && code === 0) return { outcome: "clean" };
  if (found.length > 0 && code !== 0) return { outcome: "vulnerable", packages: found };
  throw new Error(`bun audit ended with ${code}: ${out}${err}`);
}

if (import.meta.main) {
  mkdirSync(dirname(ADVISORIES_FILE), { recursive: true });
  writeFileSync(ADVISORIES_FILE, JSON.stringify(await fetchAdvisories(null)));
}
