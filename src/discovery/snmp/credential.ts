// SNMP credentials with plaintext secrets. They live as long as a scan, and are never stored, logged or included in an
// error.

import type { AUTH_PROTOCOLS, PRIV_PROTOCOLS } from "../../resources/credentials/credential.ts";

export type AuthProtocol = (typeof AUTH_PROTOCOLS)[number];
export type PrivProtocol = (typeof PRIV_PROTOCOLS)[number];

export type SnmpCredential = CommunityCredential | UserCredential;

export interface CommunityCredential {
  readonly credential_id: string;
  readonly name: string;
  readonly version: "SnmpV1" | "SnmpV2c";
  readonly community: string;
}

/** User-based Security Model (RFC 3414). A password is null if its protocol is None. */
export interface UserCredential {
  readonly credential_id: string;
  readonly name: string;
  readonly version: "SnmpV3";
  readonly security_name: string;
  readonly auth_protocol: AuthProtocol;
  readonly auth_password: string | null;
  readonly priv_protocol: PrivProtocol;
  readonly priv_password: string | null;
  /** Null and "" denote the default context. */
  readonly context_name: string | null;
}
