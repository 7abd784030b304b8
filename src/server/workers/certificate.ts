// The entry of the thread that makes the appliance's own certificate.

import "reflect-metadata";
import { runThread } from "../../base/thread.ts";
import type { CertificateMessages } from "../../tls/order.ts";

runThread<CertificateMessages>((post) => async (wish) => {
  try {
    // Only now: it asks for what reflect-metadata brings, and a bundle would run it first.
    const { makeCertificate } = await import("../../tls/make-certificate.ts");
    post({ made: await makeCertificate(wish) });
  } catch (error) {
    post({ problem: error instanceof Error ? error.message : String(error) });
  }
});
