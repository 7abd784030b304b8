// Thread entry: scanner.

import { runThread } from "../../base/thread.ts";
import { serveScans } from "../../discovery/scans/scan-thread.ts";
import { openScanner } from "../../discovery/scans/scanner.ts";

runThread(serveScans(openScanner));
