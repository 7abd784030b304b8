// net-snmp user for a credential, and cleanup of net-snmp's key cache. No I/O.

import { Authentication, AuthProtocols, PrivProtocols, SecurityLevel, type User } from "net-snmp";
import type { WorkingCredential } from "../sightings.ts";
import type { AuthProtocol, PrivProtocol, UserCredential } from "./credential.ts";
import { failure, type SnmpFailure } from "./failure.ts";

/**
 * Method to extend a shorter digest to a 256-bit key: draft-blumenthal-aes-usm-04, or the one of Cisco and others after
 * draft-reeder-snmpv3-usm-3desede.
 */
export type KeyExtension = NonNullable<WorkingCredential["key_extension"]>;

/** True if two methods exist for its privacy key: a digest of 256 bits or more needs no extension. */
export function hasKeyExtension({ auth_protocol, priv_protocol }: UserCredential): boolean {
  return priv_protocol === "Aes256" && (auth_protocol === "Md5" || auth_protocol === "Sha1");
}

/** @returns a failure if the credential is incomplete */
export function snmpUserOf(credential: UserCredential, extension: KeyExtension): User | SnmpFailure {
  const {
    security_name: name,
    auth_protocol: auth,
    auth_password: authKey,
    priv_protocol: priv,
    priv_password: privKey,
  } = credential;
  if (auth === "None") return { name, level: SecurityLevel.noAuthNoPriv };
  if (isMissing(authKey)) return failure("unsupported", "the credential has no authentication password");
  const authProtocol = AUTH_PROTOCOL[auth];
  if (priv === "None") return { name, level: SecurityLevel.authNoPriv, authProtocol, authKey };
  if (isMissing(privKey)) return failure("unsupported", "the credential has no privacy password");
  const privProtocol = priv === "Aes256" && extension === "Reeder" ? PrivProtocols.aes256r : PRIV_PROTOCOL[priv];
  return { name, level: SecurityLevel.authPriv, authProtocol, authKey, privProtocol, privKey };
}

/**
 * Clears the keys that net-snmp caches forever by password and engine. Call when a scan has ended; keys are derived
 * again when needed.
 */
export function forgetKeys(): void {
  (Authentication as unknown as { authToKeyCache: Record<string, unknown> }).authToKeyCache = {};
}

const AUTH_PROTOCOL: Readonly<Record<Exclude<AuthProtocol, "None">, AuthProtocols>> = {
  Md5: AuthProtocols.md5,
  Sha1: AuthProtocols.sha,
  Sha256: AuthProtocols.sha256,
  Sha384: AuthProtocols.sha384,
  Sha512: AuthProtocols.sha512,
};

const PRIV_PROTOCOL: Readonly<Record<Exclude<PrivProtocol, "None">, PrivProtocols>> = {
  Des: PrivProtocols.des,
  Aes128: PrivProtocols.aes,
  Aes256: PrivProtocols.aes256b,
};

function isMissing(password: string | null): password is null {
  return password === null || password === "";
}
