// The file that tells a demo's folder from one with a real inventory, and since when the demo is.

import { join } from "node:path";
import { replaceFile } from "../base/durable-file.ts";
import { formatInstant, type Instant, parseInstant } from "../base/instant.ts";
import { isTaken, readRegular } from "../base/regular-file.ts";
import { DatabaseRefused } from "../db/files/migrate.ts";

const MARK = "netledger-demo.json";
/** Many times what is written. */
const MAX_BYTES = 4_096;

/** begun: what is there is not whole, and nobody's. */
export type DemoState = "none" | "begun" | "made";

export function demoStateOf(directory: string): DemoState {
  if (!isTaken(join(directory, MARK))) return "none";
  return read(directory) === null ? "begun" : "made";
}

/** @throws DatabaseRefused where it is not told */
export function startOf(directory: string): Instant {
  const start = read(directory);
  if (start === null) throw new DatabaseRefused(`${join(directory, MARK)} does not tell when the demo began.`);
  return start;
}

/** @param start null for one that is only begun */
export async function mark(directory: string, start: Instant | null): Promise<void> {
  const told = { made_up: true, start: start === null ? null : formatInstant(start) };
  await replaceFile(join(directory, MARK), `${JSON.stringify(told)}\n`);
}

function read(directory: string): Instant | null {
  try {
    const { start } = JSON.parse(new TextDecoder().decode(readRegular(join(directory, MARK), MAX_BYTES))) as {
      start?: unknown;
    };
    return typeof start === "string" ? parseInstant(start) : null;
  } catch {
    return null;
  }
}
