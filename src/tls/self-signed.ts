// Self-signed appliance certificate: generated on the first start that needs it, stored in the data directory, renewed
// with the same key. Reveals only its fingerprint.

import { statSync } from "node:fs";
import { dirname } from "node:path";
import type { Clock } from "../base/clock.ts";
import { replaceFile } from "../base/durable-file.ts";
import { parseIp } from "../base/ip.ts";
import type { Random } from "../base/random.ts";
import { describeReadError, nameExists } from "../base/regular-file.ts";
import type { MakeCertificate } from "./certificate-thread.ts";
import { readPem, readTlsPair, type TlsPair, TlsRefused } from "./pair.ts";

/** Apple platforms reject certificates with a longer validity. */
export const VALID_DAYS = 825;
/** Remaining validity below which it is renewed. */
export const RENEW_DAYS = 30;

export interface SelfSignedFiles {
  readonly certificate: string;
  readonly privateKey: string;
}

export interface SelfSigned {
  readonly pair: TlsPair;
  /** Whether it was just generated or renewed: its fingerprint is new. */
  readonly isNew: boolean;
}

/**
 * The pair in the data directory, generated if missing and renewed RENEW_DAYS before its end. Changed names do not
 * cause a renewal: people have compared its fingerprint.
 * @param names DNS names and IP addresses of a new certificate
 * @throws TlsRefused for a mismatched pair, files that cannot be written, or a key readable by others
 */
export async function ensureSelfSigned(
  files: SelfSignedFiles,
  names: readonly string[],
  make: MakeCertificate,
  clock: Clock,
  random: Random,
): Promise<SelfSigned> {
  const hasKey = nameExists(files.privateKey);
  const existing = hasKey && nameExists(files.certificate) ? read(files) : null;
  // A certificate generated while the clock was ahead is not valid yet.
  if (existing !== null && existing.validFrom <= clock.now() && existing.validTo - clock.now() > RENEW_DAYS * DAY_MS)
    return { pair: existing, isNew: false };
  if (hasKey) requirePrivate(files.privateKey);
  const existingKey = hasKey ? readPem(files.privateKey, files.privateKey) : null;
  // Allows for inaccurate client clocks.
  const spec = {
    privateKey: existingKey,
    names,
    validFrom: clock.now() - DAY_MS,
    validTo: clock.now() + VALID_DAYS * DAY_MS,
    serial: random.bytes(16),
  };
  const generated = await make(spec).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TlsRefused(
      hasKey
        ? `${files.privateKey} holds no key usable for a certificate (${reason})`
        : `no certificate can be created (${reason})`,
    );
  });
  try {
    // The key first: a certificate without its key is useless, whereas a key without a certificate just gets a new one.
    if (!hasKey) await replaceFile(files.privateKey, generated.privateKey);
    await replaceFile(files.certificate, generated.certificate, 0o644);
  } catch (error) {
    throw new TlsRefused(
      `the certificate cannot be stored in ${dirname(files.certificate)} (${error instanceof Error && "code" in error ? error.code : error})`,
    );
  }
  return { pair: read(files), isNew: true };
}

const DAY_MS = 24 * 60 * 60 * 1000;

function read(files: SelfSignedFiles): TlsPair {
  requirePrivate(files.privateKey);
  return readTlsPair({
    certificate: { path: files.certificate, displayName: files.certificate },
    privateKey: { path: files.privateKey, displayName: files.privateKey },
  });
}

function requirePrivate(path: string): void {
  const mode = modeOf(path);
  if ((mode & 0o077) !== 0)
    throw new TlsRefused(
      `${path} is open to others (mode ${mode.toString(8).padStart(4, "0")}): make it 0600 with chmod`,
    );
}

function modeOf(path: string): number {
  try {
    return statSync(path).mode & 0o777;
  } catch (error) {
    throw new TlsRefused(`${path} ${describeReadError(error)}`);
  }
}

/**
 * Names for the certificate of a listener.
 * @param addresses of this machine, used if it listens on all of them
 */
export function certificateNames(listenHost: string, hostName: string, addresses: readonly string[]): string[] {
  const ip = parseIp(listenHost);
  const isWildcard = ip?.bytes.every((byte) => byte === 0);
  const candidates = ["localhost", hostName, ...(isWildcard ? addresses : [listenHost]), "127.0.0.1", "::1"];
  return [...new Set(candidates.map((name) => parseIp(name)?.text ?? name.toLowerCase()))].filter(
    (name) => parseIp(name) !== null || DNS_NAME.test(name),
  );
}

const DNS_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/;
