// What the log says of an answer whose stream broke off.

import type { Log } from "../base/log.ts";
import { readTroubleOf } from "../db/trouble.ts";
import type { RequestContext } from "../http/request.ts";

/** Reports that a stream broke off. */
export function logBrokenStream(
  { log }: { readonly log: Log },
  call: Pick<RequestContext, "requestId">,
): (error: unknown) => void {
  return (error) => {
    // What failed in another thread is behind the error that it is reported as.
    const told = readTroubleOf(error) ?? error;
    const cause = told instanceof Error ? (told.cause ?? told.stack) : told;
    log.error("stream_failed", { cause: String(cause), request_id: call.requestId });
  };
}
