// Marker file that distinguishes a demo's data directory from a real inventory, and records when the demo started.

import { join } from "node:path";
import { replaceFile } from "../base/durable-file.ts";
import { formatInstant, type Instant, parseInstant } from "../base/instant.ts";
import { nameExists, readRegular } from "../base/regular-file.ts";
import { DatabaseRefused } from "../db/files/migrate.ts";

const MARKER_FILE = "netledger-demo.json";
/** Far more than is written. */
const MAX_BYTES = 4_096;

/** unfinished: the data is incomplete and can be discarded. */
export type DemoState = "none" | "unfinished" | "complete";

export function demoStateOf(directory: string): DemoState {
  if (!nameExists(join(directory, MARKER_FILE))) return "none";
  return read(directory) === null ? "unfinished" : "complete";
}

/** @throws DatabaseRefused if the file has no start */
export function startOf(directory: string): Instant {
  const start = read(directory);
  if (start === null)
    throw new DatabaseRefused(`${join(directory, MARKER_FILE)} does not record when the demo started.`);
  return start;
}

/** @param start null while unfinished */
export async function writeMarker(directory: string, start: Instant | null): Promise<void> {
  const content = { made_up: true, start: start === null ? null : formatInstant(start) };
  await replaceFile(join(directory, MARKER_FILE), `${JSON.stringify(content)}\n`);
}

function read(directory: string): Instant | null {
  try {
    const { start } = JSON.parse(new TextDecoder().decode(readRegular(join(directory, MARKER_FILE), MAX_BYTES))) as {
      start?: unknown;
    };
    return typeof start === "string" ? parseInstant(start) : null;
  } catch {
    return null;
  }
}
