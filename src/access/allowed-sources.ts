// Allowed source addresses of an API key.

import type { DomainError } from "../base/errors.ts";
import { type Cidr, isIpWithinAny, parseCidr } from "../base/ip.ts";
import { notAuthenticated } from "./actor.ts";

/** Null for any source. */
export type SourceBlocks = readonly Cidr[] | null;

/** A key's list as stored for the writer and the gate: CIDRs as a JSON array. */
export function sourcesColumn(cidrs: readonly string[] | null): string | null {
  return cidrs === null ? null : JSON.stringify(cidrs);
}

/** The reverse conversion. */
export function readSources(column: string | null): SourceBlocks {
  return column === null ? null : (JSON.parse(column) as string[]).flatMap((text) => parseCidr(text) ?? []);
}

export function isAllowedSource(sources: SourceBlocks, source: () => string): boolean {
  return sources === null || isIpWithinAny(sources, source());
}

/**
 * 401, the same as for an unknown key: a thief must not learn that the key is valid elsewhere. The log states the
 * reason.
 */
export function sourceNotAllowed(): DomainError {
  return Object.assign(notAuthenticated(), { cause: "source_not_allowed" });
}
