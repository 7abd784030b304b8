// From where an API key may be used: the addresses that its requests may come from.

import type { DomainError } from "../base/errors.ts";
import { type Cidr, isIpWithinAny, parseCidr } from "../base/ip.ts";
import { notAuthenticated } from "./actor.ts";

/** Null for everywhere. */
export type SourceBlocks = readonly Cidr[] | null;

/** How the writer and the gate find a key's list: CIDRs, a JSON array. */
export function sourcesColumn(cidrs: readonly string[] | null): string | null {
  return cidrs === null ? null : JSON.stringify(cidrs);
}

/** The other way. */
export function readSources(column: string | null): SourceBlocks {
  return column === null ? null : (JSON.parse(column) as string[]).flatMap((text) => parseCidr(text) ?? []);
}

export function isAllowedSource(sources: SourceBlocks, source: () => string): boolean {
  return sources === null || isIpWithinAny(sources, source());
}

/**
 * 401: what an unknown key is answered, since who has a stolen one is not to learn that it is good elsewhere. The log
 * tells why.
 */
export function sourceNotAllowed(): DomainError {
  return Object.assign(notAuthenticated(), { cause: "source_not_allowed" });
}
