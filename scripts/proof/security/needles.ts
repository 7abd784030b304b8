// Search for known secrets in bytes, in every likely encoding. Pure except for reading files.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";

/** Name of a place, and its bytes. */
export interface Haystack {
  readonly place: string;
  readonly bytes: Buffer;
}

export interface Find {
  readonly secret: string;
  readonly form: string;
  readonly place: string;
}

/** Encoded forms of a secret by name; at least twelve bytes each, to rule out chance matches. */
export function formsOf(secret: string): Map<string, Buffer> {
  const plain = Buffer.from(secret, "utf8");
  const forms = new Map<string, Buffer>([["raw", plain]]);
  const add = (name: string, bytes: Buffer) => {
    if (![...forms.values()].some((each) => each.equals(bytes))) forms.set(name, bytes);
  };
  add("hex", Buffer.from(plain.toString("hex")));
  add("hex in capitals", Buffer.from(plain.toString("hex").toUpperCase()));
  add("UTF-16, little end first", Buffer.from(secret, "utf16le"));
  add("UTF-16, big end first", Buffer.from(secret, "utf16le").swap16());
  add("URL-encoded", Buffer.from(encodeURIComponent(secret)));
  add("form-encoded", Buffer.from(new URLSearchParams({ v: secret }).toString().slice(2)));
  add("JSON", Buffer.from(JSON.stringify(secret).slice(1, -1)));
  add("reversed", Buffer.from([...secret].reverse().join("")));
  // The offset within the encoded text is unknown: searches for the part that does not depend on neighbors.
  for (const offset of [0, 1, 2]) {
    const shifted = Buffer.concat([Buffer.alloc(offset), plain]);
    for (const alphabet of ["base64", "base64url"] as const) {
      const text = shifted.toString(alphabet).replace(/=+$/, "");
      const from = offset === 0 ? 0 : offset + 1;
      const to = shifted.length % 3 === 0 ? text.length : text.length - 1;
      add(`${alphabet}, ${offset} bytes in`, Buffer.from(text.slice(from, to)));
    }
  }
  return forms;
}

/** Places of secrets, each form and place once. @param secrets by name */
export function search(secrets: ReadonlyMap<string, string>, haystacks: readonly Haystack[]): Find[] {
  const finds: Find[] = [];
  for (const [name, secret] of secrets) {
    for (const [form, bytes] of formsOf(secret)) {
      for (const { place, bytes: hay } of haystacks) if (hay.includes(bytes)) finds.push({ secret: name, form, place });
    }
  }
  return finds;
}

/** Every file below a folder, complete. */
export function filesBelow(folder: string): Haystack[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ place: relative(folder, path), bytes: readFileSync(path) }));
}

/** Files and folders with any permission for group or others: `path mode`. */
export function openToOthers(folder: string): string[] {
  return [".", ...readdirSync(folder, { recursive: true }).map(String)]
    .map((name) => ({ name, mode: statSync(join(folder, name)).mode & 0o777 }))
    .filter(({ mode }) => (mode & 0o077) !== 0)
    .map(({ name, mode }) => `${name} ${mode.toString(8)}`);
}

/** In one line of limited length. */
export function toldFinds(finds: readonly Find[]): string {
  const some = finds.slice(0, 5).map(({ secret, form, place }) => `${secret} (${form}) in ${place}`);
  return finds.length === 0 ? "nowhere" : `${finds.length} times: ${some.join("; ")}`;
}
