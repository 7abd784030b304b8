// Where a session is used from, and by what: what its user can tell one from another by. Nothing is decided by it.

import { carriesCredential } from "../base/credential-texts.ts";
import { peerPlace } from "../base/ip.ts";

/** Of a user agent as it is kept. */
export const USER_AGENT_MAX_LENGTH = 255;

/** As the table of sessions has it. */
export interface SessionOrigin {
  /** The caller's address; null where there is none, without a socket. */
  readonly last_used_from: string | null;
  /** What the client calls itself; null where it says nothing. */
  readonly user_agent: string | null;
}

/** What is looked at of a request. */
export interface OriginCall {
  readonly request: Request;
  /** The caller's address. */
  readonly source: string;
}

/** Where a request came from, as its session shows it: the address of its peer, and what its client calls itself. */
export function originOf({ request, source }: OriginCall): SessionOrigin {
  const { address, isAddress } = peerPlace(source);
  return {
    last_used_from: isAddress ? address : null,
    user_agent: plainUserAgent(request.headers.get("user-agent")),
  };
}

/**
 * The header (RFC 9110 section 10.1.5) on one line, without characters that do something instead of being seen: it is
 * whatever the client makes up, and is shown. Null also where an API key or a session's token is in it.
 */
export function plainUserAgent(header: string | null): string | null {
  // A header can be many times longer: what is kept is worked out from its beginning.
  const beginning = (header ?? "").slice(0, 4 * USER_AGENT_MAX_LENGTH);
  const plain = beginning.replaceAll(/[\s\p{C}\p{Zl}\p{Zp}]+/gu, " ").trim();
  const kept = [...plain].slice(0, USER_AGENT_MAX_LENGTH).join("").trimEnd();
  return kept === "" || carriesCredential(kept) ? null : kept;
}
