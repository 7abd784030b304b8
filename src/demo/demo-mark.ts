// Marker file that distinguishes a demo's folder from a real inventory, with the start of the demo.

import { join } from "node:path";
import { replaceFile } from "../base/durable-file.ts";
import { formatInstant, type Instant, parseInstant } from "../base/instant.ts";
import { isTaken, readRegular } from "../base/regular-file.ts";
import { DatabaseRefused } from "../db/files/migrate.ts";

const MARK = "netledger-demo.json";
/** Far more than is written. */
const MAX_BYTES = 4_096;

/** begun: the data is incomplete and can be discarded. */
export type DemoState = "none" | "begun" | "made";

export function demoStateOf(directory: string): DemoState {
  if (!isTaken(join(directory, MARK))) return "none";
  return read(directory) === null ? "begun" : "made";
}

/** @throws DatabaseRefused if the file has no start */
export function startOf(directory: string): Instant {
  const start = read(directory);
  if (start === null) throw new DatabaseRefused(`${join(directory, MARK)} does not tell when the demo began.`);
  return start;
}

/** @param start null if only begun */
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
