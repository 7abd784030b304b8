// Embedded handbook: pages for the command line, files for the browser. Decompressed on first use.

import { brotliDecompressSync } from "node:zlib";
import { renderHandbook } from "./render.ts" with { type: "macro" };
import type { Handbook } from "./render.ts";

const EMBEDDED = renderHandbook();

/** All paths of the handbook. */
export const HANDBOOK_PATHS: readonly string[] = EMBEDDED.paths;

let unpacked: Handbook | undefined;

export function handbook(): Handbook {
  unpacked ??= JSON.parse(brotliDecompressSync(Buffer.from(EMBEDDED.packed, "base64")).toString()) as Handbook;
  return unpacked;
}
