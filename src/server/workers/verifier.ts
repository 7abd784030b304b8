// Thread entry: verification of the data.

import { runThread } from "../../base/thread.ts";
import { serveVerification } from "../../operations/verify-thread.ts";

runThread(serveVerification);
