// The entry of the Worker that takes a backup.

import { serveBackup, type BackupOrder, type BackupReply } from "./backup/job.ts";

if (!Bun.isMainThread) {
  const port = globalThis as unknown as {
    postMessage(message: BackupReply): void;
    onmessage: (event: MessageEvent<BackupOrder>) => void;
  };
  port.onmessage = async (event) => port.postMessage(await serveBackup(event.data));
}
