// Thread entry: generation of the self-signed certificate.

import "reflect-metadata";
import { runThread } from "../../base/thread.ts";
import type { CertificateMessages } from "../../tls/certificate-thread.ts";

runThread<CertificateMessages>((post) => async (spec) => {
  try {
    // Imported late: it needs reflect-metadata, and a bundle would run it first.
    const { makeCertificate } = await import("../../tls/make-certificate.ts");
    post({ generated: await makeCertificate(spec) });
  } catch (error) {
    post({ problem: error instanceof Error ? error.message : String(error) });
  }
});
