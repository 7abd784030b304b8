// The IEEE's registry of MAC prefixes, as the package oui-data has it, made small while the program is built: a macro,
// which runs in the bundler and leaves only its text behind. Must not be imported without `with { type: "macro" }`: the
// package is not there at run time.

import { readFileSync } from "node:fs";
import { brotliCompressSync, constants } from "node:zlib";
import { packRegistry } from "./registry-format.ts";

/**
 * The whole registry in the form that `unpackRegistry` reads, compressed with Brotli, in base64: about half a megabyte.
 */
export function compactRegistry(): string {
  const entries = JSON.parse(readFileSync(Bun.resolveSync("oui-data", import.meta.dir), "utf8")) as Record<
    string,
    string
  >;
  // Every process that runs the sources evaluates this macro: the highest level takes a second for a twelfth of the size.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 6 };
  return brotliCompressSync(packRegistry(entries), { params }).toString("base64");
}
