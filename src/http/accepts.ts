// What a caller takes an answer as, where an operation has more than one form of it.

/** For proxies that would wait for the end of a stream. */
export const STREAM_HEADERS = { "cache-control": "no-store", "x-accel-buffering": "no" } as const;

export const EVENT_STREAM = "text/event-stream";

/** Whether a request asks for a media type by its name. */
export function accepts(request: Request, type: string): boolean {
  return (request.headers.get("accept") ?? "")
    .split(",")
    .some((each) => each.split(";", 1)[0]?.trim().toLowerCase() === type);
}
