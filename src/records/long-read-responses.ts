// Responses whose entire body is a long read.

import type { LongRead } from "../db/reading/long-reads.ts";
import { byteStream } from "../http/byte-stream.ts";
import type { ActorCall, Backend } from "./backend.ts";
import { logBrokenStream } from "./broken-stream.ts";

/**
 * Streams the bytes as they are produced.
 * @throws DomainError from the read before its first bytes
 */
export async function respondWithLongRead<Input>(
  backend: Backend,
  call: Pick<ActorCall, "headers" | "requestId">,
  read: LongRead<Input>,
  input: NoInfer<Input>,
  headers: Record<string, string> = { ...call.headers, "content-type": "application/json" },
): Promise<Response> {
  const chunks = await backend.longReads.start(read, input);
  return new Response(byteStream("", chunks, "", logBrokenStream(backend, call)), { headers });
}
