// Accept-header check for operations with several response formats.

/** Keeps proxies from buffering a stream until its end. */
export const STREAM_HEADERS = { "cache-control": "no-store", "x-accel-buffering": "no" } as const;

export const EVENT_STREAM = "text/event-stream";

/** Whether a request explicitly accepts a media type. */
export function accepts(request: Request, type: string): boolean {
  return (request.headers.get("accept") ?? "")
    .split(",")
    .some((each) => each.split(";", 1)[0]?.trim().toLowerCase() === type);
}
