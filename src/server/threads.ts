// All threads except the main one, with their entry files and messages.

import type { BackupMessages } from "../backup/job.ts";
import { threadOf } from "../base/thread.ts";
import type { LongReadMessages } from "../db/reading/long-reads.ts";
import type { WriteMessages } from "../db/writing/write-queue.ts";
import type { ScanMessages } from "../discovery/scans/scan-thread.ts";
import type { BodyMessages } from "../http/body-checks.ts";
import type { VerifyMessages } from "../operations/verify-thread.ts";
import type { CertificateMessages } from "../tls/certificate-thread.ts";

/** In the executable, all modules are one file, from which entries have the same relative paths as in src. */
const WORKERS = import.meta.url.endsWith("/server/threads.ts") ? "./workers" : "./server/workers";

const entry = (name: string) => () => new Worker(new URL(`${WORKERS}/${name}.ts`, import.meta.url).href);

export const backupThread = threadOf<BackupMessages>(entry("backup"));
export const bodiesThread = threadOf<BodyMessages>(entry("bodies"));
export const certificateThread = threadOf<CertificateMessages>(entry("certificate"));
export const demoScannerThread = threadOf<ScanMessages>(entry("demo-scanner"));
export const readsThread = threadOf<LongReadMessages>(entry("reads"));
export const scannerThread = threadOf<ScanMessages>(entry("scanner"));
export const verifierThread = threadOf<VerifyMessages>(entry("verifier"));
export const writerThread = threadOf<WriteMessages>(entry("writer"));
