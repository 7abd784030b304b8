// Certificate generation on a thread: the generator is large, and loaded only when needed.

import type { Instant } from "../base/instant.ts";
import { askThread, type StartThread } from "../base/thread.ts";

export interface CertificateWish {
  /** PEM of a P-256 key; null for a new key. */
  readonly privateKey: string | null;
  /** DNS names and IP addresses. */
  readonly names: readonly string[];
  readonly validFrom: Instant;
  readonly validTo: Instant;
  /** 16 random bytes. */
  readonly serial: Uint8Array;
}

/** Both PEM. */
export interface MadeCertificate {
  readonly privateKey: string;
  readonly certificate: string;
}

/** @throws Error for an unusable key */
export type MakeCertificate = (wish: CertificateWish) => Promise<MadeCertificate>;

export interface CertificateMessages {
  readonly to: CertificateWish;
  readonly from: { readonly made: MadeCertificate } | { readonly problem: string };
}

/** Runs each generation on its own thread. */
export function orderedFrom(start: StartThread<CertificateMessages>): MakeCertificate {
  return async (wish) => {
    const reply = await askThread(start, wish).answer;
    if ("problem" in reply) throw new Error(reply.problem);
    return reply.made;
  };
}
