// The entry of the Worker that makes the appliance's own certificate.

import "reflect-metadata";
import type { CertificateReply, CertificateWish } from "./tls/order.ts";

if (!Bun.isMainThread) {
  const port = globalThis as unknown as {
    postMessage(message: CertificateReply): void;
    onmessage: (event: MessageEvent<CertificateWish>) => void;
  };
  port.onmessage = async (event) => {
    try {
      // Only now: it asks for what reflect-metadata brings, and a bundle would run it first.
      const { makeCertificate } = await import("./tls/make-certificate.ts");
      port.postMessage({ made: await makeCertificate(event.data) });
    } catch (error) {
      port.postMessage({ problem: error instanceof Error ? error.message : String(error) });
    }
  };
}
