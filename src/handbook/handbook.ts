// The handbook as it is embedded: its pages for the command line, its files for the browser. Unpacked when someone asks
// for it.

import { brotliDecompressSync } from "node:zlib";
import { renderHandbook } from "./render.ts" with { type: "macro" };
import type { Handbook } from "./render.ts";

const EMBEDDED = renderHandbook();

/** Every path that the handbook is served at. */
export const HANDBOOK_PATHS: readonly string[] = EMBEDDED.paths;

let unpacked: Handbook | undefined;

export function handbook(): Handbook {
  unpacked ??= JSON.parse(brotliDecompressSync(Buffer.from(EMBEDDED.packed, "base64")).toString()) as Handbook;
  return unpacked;
}
