// Logging for response streams that break off.

import type { Log } from "../base/log.ts";
import { readFailureOf } from "../db/sqlite-failures.ts";
import type { RequestContext } from "../http/request.ts";

/** Returns an error handler that logs a broken stream. */
export function logBrokenStream(
  { log }: { readonly log: Log },
  call: Pick<RequestContext, "requestId">,
): (error: unknown) => void {
  return (error) => {
    // A failure in another thread is the cause of the reported error.
    const reported = readFailureOf(error) ?? error;
    const cause = reported instanceof Error ? (reported.cause ?? reported.stack) : reported;
    log.error("stream_failed", { cause: String(cause), request_id: call.requestId });
  };
}
