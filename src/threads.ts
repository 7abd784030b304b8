// Every thread there is besides the first: its entry, and what the two say to each other.

import type { BackupMessages } from "./backup/job.ts";
import { threadOf } from "./base/thread.ts";
import type { LongReadMessages } from "./db/reading/long-reads.ts";
import type { WriteMessages } from "./db/writing/write-queue.ts";
import type { ScanMessages } from "./discovery/scans/scan-thread.ts";
import type { BodyMessages } from "./http/body-checks.ts";
import type { CertificateMessages } from "./tls/order.ts";
import type { VerifyMessages } from "./upkeep/verify-thread.ts";

export const backupThread = threadOf<BackupMessages>(
  () => new Worker(new URL("./workers/backup.ts", import.meta.url).href),
);
export const bodiesThread = threadOf<BodyMessages>(
  () => new Worker(new URL("./workers/bodies.ts", import.meta.url).href),
);
export const certificateThread = threadOf<CertificateMessages>(
  () => new Worker(new URL("./workers/certificate.ts", import.meta.url).href),
);
export const demoScannerThread = threadOf<ScanMessages>(
  () => new Worker(new URL("./workers/demo-scanner.ts", import.meta.url).href),
);
export const readsThread = threadOf<LongReadMessages>(
  () => new Worker(new URL("./workers/reads.ts", import.meta.url).href),
);
export const scannerThread = threadOf<ScanMessages>(
  () => new Worker(new URL("./workers/scanner.ts", import.meta.url).href),
);
export const verifierThread = threadOf<VerifyMessages>(
  () => new Worker(new URL("./workers/verifier.ts", import.meta.url).href),
);
export const writerThread = threadOf<WriteMessages>(
  () => new Worker(new URL("./workers/writer.ts", import.meta.url).href),
);
