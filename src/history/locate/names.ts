// Full-text queries for names, and name equality.

import { foldCase } from "../../base/text.ts";
import { exactTerm } from "../../db/search-text.ts";
import type { HostRecord } from "../../resources/hosts/host.ts";

/** Lower case, without a trailing root dot. */
export function foldName(name: string): string {
  return foldCase(name.trim()).replace(/\.$/, "");
}

/** The name of a host that matches, and whether all of it does; null for none. */
export function matchingName(
  { name, hostname, sys_name: sysName }: Pick<HostRecord, "name" | "hostname" | "sys_name">,
  wanted: string,
): { readonly matchedName: string; readonly isExact: boolean } | null {
  const names = [name, hostname, sysName].filter((each) => each !== null);
  const folded = foldName(wanted);
  const exact = names.find((each) => foldName(each) === folded);
  const matchedName = exact ?? names.find((each) => foldName(each).startsWith(`${folded}.`));
  return matchedName === undefined ? null : { matchedName, isExact: exact !== undefined };
}

/** Matches every word of the name as a whole entry; null without words. */
export function exactNameQuery(name: string): string | null {
  const words = wordsOf(name);
  return words.length === 0 ? null : words.map(exactTerm).join(" AND ");
}

/**
 * Matches the name, or a name that starts with it up to a dot.
 * @param indexedForm the indexed form of the name
 */
export function nameQuery(name: string, indexedForm: (text: string) => string): string | null {
  const words = wordsOf(indexedForm(foldName(name)));
  const last = words.at(-1);
  if (last === undefined) return null;
  const before = words
    .slice(0, -1)
    .map((word) => `${exactTerm(word)} AND `)
    .join("");
  return `${before}(${exactTerm(last)} OR ${exactTerm(`${last}.`)}*)`;
}

function wordsOf(name: string): string[] {
  return name.split(/[\s\p{Cc}]+/u).filter((word) => word !== "");
}
