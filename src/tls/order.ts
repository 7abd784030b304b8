// A certificate made by a thread: what makes it is large, and loaded where one is to be made and nowhere else.

import type { Instant } from "../base/instant.ts";
import { askThread, type StartThread } from "../base/thread.ts";

export interface CertificateWish {
  /** PEM, of a P-256 key; null for a new one. */
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

/** @throws Error for a key that none can be made of */
export type MakeCertificate = (wish: CertificateWish) => Promise<MadeCertificate>;

export interface CertificateMessages {
  readonly to: CertificateWish;
  readonly from: { readonly made: MadeCertificate } | { readonly problem: string };
}

/** Has a thread of its own make one. */
export function orderedFrom(start: StartThread<CertificateMessages>): MakeCertificate {
  return async (wish) => {
    const reply = await askThread(start, wish).answer;
    if ("problem" in reply) throw new Error(reply.problem);
    return reply.made;
  };
}
