// The entry of the Worker that takes a backup.

import { setPriority } from "node:os";
import { serveBackup, type BackupOrder, type BackupReply } from "./backup/job.ts";

/** As of `nice`: where processors are few, whoever waits for an answer goes first. */
const NICENESS = 10;

if (!Bun.isMainThread) {
  // On Linux of this thread alone.
  setPriority(NICENESS);
  const port = globalThis as unknown as { postMessage(message: BackupReply): void; onmessage: (event: MessageEvent<BackupOrder>) => void };
  port.onmessage = async (event) => port.postMessage(await serveBackup(event.data));
}
