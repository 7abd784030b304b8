// A certificate made by a Worker: what makes it is large, and loaded where one is to be made and nowhere else.

import type { Instant } from "../base/instant.ts";

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

/** What the Worker answers. */
export type CertificateReply = { readonly made: MadeCertificate } | { readonly problem: string };

/** Has a Worker of its own make one. */
export function orderedFrom(startWorker: () => Worker): MakeCertificate {
  return async (wish) => {
    const worker = startWorker();
    try {
      const { promise, resolve, reject } = Promise.withResolvers<CertificateReply>();
      worker.onmessage = (event: MessageEvent<CertificateReply>) => resolve(event.data);
      worker.onerror = (event) => reject(new Error(event.message));
      worker.addEventListener("close", () => reject(new Error("the thread that makes it has ended")));
      worker.postMessage(wish);
      const reply = await promise;
      if ("problem" in reply) throw new Error(reply.problem);
      return reply.made;
    } finally {
      worker.terminate();
    }
  };
}
