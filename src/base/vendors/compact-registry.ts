// Build-time macro that compacts the IEEE registry of MAC prefixes from the package oui-data; only its text is bundled.
// Must not be imported without `with { type: "macro" }`: the package is not available at run time.

import { readFileSync } from "node:fs";
import { brotliCompressSync, constants } from "node:zlib";
import { packRegistry } from "./registry-format.ts";

/** The entire registry in the format of `unpackRegistry`, Brotli-compressed, in base64: about half a megabyte. */
export function compactRegistry(): string {
  const entries = JSON.parse(readFileSync(Bun.resolveSync("oui-data", import.meta.dir), "utf8")) as Record<
    string,
    string
  >;
  // Every run from source evaluates this macro: the highest level would take a second to save a twelfth of the size.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 6 };
  return brotliCompressSync(packRegistry(entries), { params }).toString("base64");
}
