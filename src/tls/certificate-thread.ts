// Certificate generation on a separate thread: the generator is large and only loaded when needed.

import type { Instant } from "../base/instant.ts";
import { callThread, type StartThread } from "../base/thread.ts";

export interface CertificateSpec {
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
export interface GeneratedCertificate {
  readonly privateKey: string;
  readonly certificate: string;
}

/** @throws Error for an unusable key */
export type MakeCertificate = (spec: CertificateSpec) => Promise<GeneratedCertificate>;

export interface CertificateMessages {
  readonly to: CertificateSpec;
  readonly from: { readonly generated: GeneratedCertificate } | { readonly problem: string };
}

/** Runs each generation on its own thread. */
export function makeOnThread(start: StartThread<CertificateMessages>): MakeCertificate {
  return async (spec) => {
    const reply = await callThread(start, spec).reply;
    if ("problem" in reply) throw new Error(reply.problem);
    return reply.generated;
  };
}
