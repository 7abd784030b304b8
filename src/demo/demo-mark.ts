// The file that tells a demo's folder from one with a real inventory, and since when the demo is.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatInstant, type Instant, parseInstant } from "../base/instant.ts";
import { DatabaseRefused } from "../db/files/migrate.ts";

const MARK = "netledger-demo.json";

/** begun: what is there is not whole, and nobody's. */
export type DemoState = "none" | "begun" | "made";

export function demoStateOf(directory: string): DemoState {
  if (!existsSync(join(directory, MARK))) return "none";
  return read(directory) === null ? "begun" : "made";
}

/** @throws DatabaseRefused where it is not told */
export function startOf(directory: string): Instant {
  const start = read(directory);
  if (start === null) throw new DatabaseRefused(`${join(directory, MARK)} does not tell when the demo began.`);
  return start;
}

/** @param start null for one that is only begun */
export function mark(directory: string, start: Instant | null): void {
  const told = { made_up: true, start: start === null ? null : formatInstant(start) };
  writeFileSync(join(directory, MARK), `${JSON.stringify(told)}\n`, { mode: 0o600 });
}

function read(directory: string): Instant | null {
  try {
    const { start } = JSON.parse(readFileSync(join(directory, MARK), "utf8")) as { start?: unknown };
    return typeof start === "string" ? parseInstant(start) : null;
  } catch {
    return null;
  }
}
