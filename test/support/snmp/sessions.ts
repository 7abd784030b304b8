// SNMP sessions for tests: timeouts, and credentials by name.

import type { CommunityCredential, UserCredential } from "../../../src/discovery/snmp/credential.ts";
import { isFailure } from "../../../src/discovery/snmp/failure.ts";
import { openSnmpSession, type SessionOptions, type SnmpSession } from "../../../src/discovery/snmp/session.ts";
import { patientTimers } from "../injected/patient-timers.ts";
import { seededRandom } from "../injected/seeded-random.ts";

/** Timeouts for expected silence: 20 ms, then 30. */
export const SHORT_TIMEOUTS = { timeoutMs: 20, retries: 1 };
/** Timeouts for expected responses, even on a busy machine. */
const LONG_TIMEOUTS = { timeoutMs: 2_000, retries: 1 };

export const neverAborted = new AbortController().signal;

export function community(text: string, version: "SnmpV1" | "SnmpV2c" = "SnmpV2c"): CommunityCredential {
  return { credential_id: `${version}-${text}`, name: text, version, community: text };
}

/** authPriv with SHA-1 and AES-128 by default. */
export function user(security_name: string, changes: Partial<UserCredential> = {}): UserCredential {
  return {
    credential_id: `SnmpV3-${security_name}`,
    name: security_name,
    version: "SnmpV3",
    security_name,
    auth_protocol: "Sha1",
    auth_password: "authpass123",
    priv_protocol: "Aes128",
    priv_password: "privpass123",
    context_name: null,
    ...changes,
  };
}

/** Opens a session; the caller closes it. @throws Error on failure */
export async function sessionTo(
  target: { readonly address: string; readonly port: number },
  credential: Parameters<typeof openSnmpSession>[1] = community("public"),
  options: Partial<SessionOptions> = {},
): Promise<SnmpSession> {
  const session = await openSnmpSession(target, credential, {
    timers: patientTimers,
    random: seededRandom(1),
    timeouts: LONG_TIMEOUTS,
    ...options,
  });
  if (isFailure(session)) throw new Error(session.clause);
  return session;
}
