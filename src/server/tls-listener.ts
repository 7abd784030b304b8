// Listener setup: the socket, over TLS with a watched certificate if configured.

import { hostname, networkInterfaces } from "node:os";
import type { Clock } from "../base/clock.ts";
import { formatInstant } from "../base/instant.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import { systemTimers } from "../base/timers.ts";
import { DatabaseRefused } from "../db/files/migrate.ts";
import { readProcAddresses } from "../discovery/self/proc-addresses.ts";
import { makeOnThread } from "../tls/certificate-thread.ts";
import { dnsNamesOf, type PairFiles, readTlsPair, type TlsPair, TlsRefused } from "../tls/pair.ts";
import { CertificateRenewal } from "../tls/renewal.ts";
import { certificateNames, ensureSelfSigned, type SelfSignedFiles } from "../tls/self-signed.ts";
import { type App, ListenError, Listener, type ListenerOptions } from "./listener.ts";
import { certificateThread } from "./threads.ts";

/** Certificate for new connections. */
export interface ServedTls {
  /** As of the start. */
  readonly pair: TlsPair;
  /** Present certificate for new connections. */
  readonly inUse: () => TlsPair;
  /** Path of the certificate. */
  readonly path: string;
  readonly isSelfSigned: boolean;
  /** Checks its files for changes and applies them. */
  checkNow(): Promise<void>;
}

export interface ListenOptions {
  readonly listen: ListenerOptions["address"];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Receives the names in the certificate for new connections. */
interface CertifiedNames {
  certify(names: readonly string[]): void;
}

export interface Served {
  readonly url: string;
  readonly tls: ServedTls | null;
  readonly listener: Pick<Listener, "port" | "peerOf">;
  stop(): Promise<void>;
}

/**
 * Listens, with a watched certificate if configured.
 * @param tls files of a pair, or of a self-signed one; null for plain HTTP
 * @throws DatabaseRefused for an unusable self-signed pair, which is part of its data, and ListenError
 */
export async function listen(
  app: App,
  options: ListenOptions,
  tls: PairFiles | { readonly own: SelfSignedFiles } | null,
  hosts: CertifiedNames,
): Promise<Served> {
  const { listen: address, clock, random, log } = options;
  const parts = { app, address, log, timers: systemTimers };
  if (tls === null) {
    const listener = new Listener({ ...parts, pair: null });
    return { url: listener.url, tls: null, listener, stop: () => listener.stop() };
  }
  const read = async () => {
    if (!("own" in tls)) return readTlsPair(tls);
    const { pair, isNew } = await ensureSelfSigned(
      tls.own,
      certificateNames(address.host, hostname(), ownAddresses()),
      makeCertificate,
      clock,
      random,
    );
    if (isNew)
      log.info("certificate_made", {
        fingerprint: pair.fingerprint,
        names: pair.names,
        valid_to: formatInstant(pair.validTo),
      });
    return pair;
  };
  const pair = await read().catch((error: unknown) => {
    if (!(error instanceof TlsRefused)) throw error;
    const message = `${error.message}.`;
    throw "own" in tls ? new DatabaseRefused(message) : new ListenError(message);
  });
  hosts.certify(dnsNamesOf(pair));
  const listener = new Listener({ ...parts, pair });
  const renewal = new CertificateRenewal({
    read,
    pair,
    apply: (next) => {
      hosts.certify(dnsNamesOf(next));
      listener.renew(next);
    },
    timers: systemTimers,
    clock,
    log,
  });
  const path = "own" in tls ? tls.own.certificate : tls.certificate.path;
  const stop = async () => {
    renewal.close();
    await listener.stop();
  };
  return {
    url: listener.url,
    listener,
    tls: { pair, inUse: () => renewal.inUse, path, isSelfSigned: "own" in tls, checkNow: () => renewal.checkNow() },
    stop,
  };
}

const makeCertificate = makeOnThread(certificateThread);

/** Addresses of this machine, except link-local ones. */
export function ownAddresses(): string[] {
  const addresses = addressesByName() ?? readProcAddresses().map(({ ip }) => ip.text);
  return addresses.filter((address) => !/^fe[89ab]/i.test(address));
}

/** Null if netlink, which getifaddrs(3) needs, is denied. */
function addressesByName(): string[] | null {
  try {
    return Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address));
  } catch {
    return null;
  }
}
