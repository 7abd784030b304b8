// Origin of a session, address and client, which lets its user identify it. Informational only.

import { containsCredential } from "../base/credential-detection.ts";
import { peerSource } from "../base/ip.ts";

/** Maximum stored length of a user agent. */
export const USER_AGENT_MAX_LENGTH = 255;

/** Columns of the sessions table. */
export interface SessionOrigin {
  /** The caller address; null without a socket. */
  readonly last_used_from: string | null;
  /** The User-Agent; null if absent. */
  readonly user_agent: string | null;
}

/** The parts of a request used here. */
export interface OriginCall {
  readonly request: Request;
  /** The caller address. */
  readonly source: string;
}

/** Origin of a request: peer address and user agent. */
export function originOf({ request, source }: OriginCall): SessionOrigin {
  const { address, isAddress } = peerSource(source);
  return {
    last_used_from: isAddress ? address : null,
    user_agent: plainUserAgent(request.headers.get("user-agent")),
  };
}

/**
 * The header (RFC 9110 section 10.1.5) as one line, without control or invisible characters: it is untrusted input and
 * is displayed. Null if it contains an API key or a session token.
 */
export function plainUserAgent(header: string | null): string | null {
  // A header can be many times longer: only its beginning is processed.
  const truncated = (header ?? "").slice(0, 4 * USER_AGENT_MAX_LENGTH);
  const plain = truncated.replaceAll(/[\s\p{C}\p{Zl}\p{Zp}]+/gu, " ").trim();
  const userAgent = [...plain].slice(0, USER_AGENT_MAX_LENGTH).join("").trimEnd();
  return userAgent === "" || containsCredential(userAgent) ? null : userAgent;
}
