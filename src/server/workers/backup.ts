// Thread entry: backup.

import { type BackupMessages, serveBackup } from "../../backup/job.ts";
import { runThread } from "../../base/thread.ts";

runThread<BackupMessages>((post) => async (request) => post(await serveBackup(request)));
