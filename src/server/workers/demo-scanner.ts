// Thread entry: scanner of a demo's network.

import { runThread } from "../../base/thread.ts";
import { openDemoScanner } from "../../demo/demo-scanner.ts";
import { serveScans } from "../../discovery/scans/scan-thread.ts";

runThread(serveScans(openDemoScanner));
