// Search for known secrets in bytes, in every likely encoding. Has no side effects besides reading files.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";

/** Bytes to search, and where they are from. */
export interface SearchTarget {
  readonly location: string;
  readonly bytes: Buffer;
}

export interface Match {
  readonly secret: string;
  readonly encoding: string;
  readonly location: string;
}

/** Encodes a secret in every likely way. @returns encoded forms by name, long enough to rule out chance matches */
export function encodingsOf(secret: string): Map<string, Buffer> {
  const plain = Buffer.from(secret, "utf8");
  const encodings = new Map<string, Buffer>([["raw", plain]]);
  const add = (name: string, bytes: Buffer) => {
    if (![...encodings.values()].some((known) => known.equals(bytes))) encodings.set(name, bytes);
  };
  add("hex", Buffer.from(plain.toString("hex")));
  add("upper-case hex", Buffer.from(plain.toString("hex").toUpperCase()));
  add("UTF-16, little-endian", Buffer.from(secret, "utf16le"));
  add("UTF-16, big-endian", Buffer.from(secret, "utf16le").swap16());
  add("URL-encoded", Buffer.from(encodeURIComponent(secret)));
  add("form-encoded", Buffer.from(new URLSearchParams({ v: secret }).toString().slice(2)));
  add("JSON", Buffer.from(JSON.stringify(secret).slice(1, -1)));
  add("reversed", Buffer.from([...secret].reverse().join("")));
  // The offset within the encoded text is unknown: the search is for the part that does not depend on neighbors.
  for (const offset of [0, 1, 2]) {
    const shifted = Buffer.concat([Buffer.alloc(offset), plain]);
    for (const alphabet of ["base64", "base64url"] as const) {
      const text = shifted.toString(alphabet).replace(/=+$/, "");
      const from = offset === 0 ? 0 : offset + 1;
      const to = shifted.length % 3 === 0 ? text.length : text.length - 1;
      add(`${alphabet}, ${offset} bytes in`, Buffer.from(text.slice(from, to)));
    }
  }
  return encodings;
}

/** Finds secrets, each encoding once per location. @param secrets secrets by name */
export function search(secrets: ReadonlyMap<string, string>, targets: readonly SearchTarget[]): Match[] {
  const matches: Match[] = [];
  for (const [name, secret] of secrets) {
    for (const [encoding, bytes] of encodingsOf(secret)) {
      for (const { location, bytes: contents } of targets)
        if (contents.includes(bytes)) matches.push({ secret: name, encoding, location });
    }
  }
  return matches;
}

/** Reads all files below a directory. */
export function filesBelow(folder: string): SearchTarget[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ location: relative(folder, path), bytes: readFileSync(path) }));
}

/** Finds files and directories with any permission for group or others. @returns strings of the form `path mode` */
export function accessibleByOthers(folder: string): string[] {
  return [".", ...readdirSync(folder, { recursive: true }).map(String)]
    .map((name) => ({ name, mode: statSync(join(folder, name)).mode & 0o777 }))
    .filter(({ mode }) => (mode & 0o077) !== 0)
    .map(({ name, mode }) => `${name} ${mode.toString(8)}`);
}

/** Summarizes matches in one line of limited length. */
export function describeMatches(matches: readonly Match[]): string {
  const some = matches.slice(0, 5).map(({ secret, encoding, location }) => `${secret} (${encoding}) in ${location}`);
  return matches.length === 0 ? "nowhere" : `${matches.length} times: ${some.join("; ")}`;
}
