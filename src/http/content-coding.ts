// Response compression for clients that accept it (RFC 9110 section 8.4, RFC 8878, RFC 1952). Small bodies are
// compressed at once, larger ones and streams on runtime threads. Independent of operations.

import type { Writable } from "node:stream";
import { createGzip, createZstdCompress, constants as zlib } from "node:zlib";
import { CODINGS, type Coding, codedTag } from "../schemas/entity-tags.ts";
import { byteStream, isByteStream } from "./byte-stream.ts";

/** Shorter responses fit into one packet uncompressed. */
const MIN_BYTES = 1_024;
/** Longer ones would block other requests and are compressed on other threads. */
const SYNC_MAX_BYTES = 64 * 1_024;
/** The lowest: on a LAN, time matters more than size. */
const LEVEL = 1;
/** Text types, except event streams, which must not be delayed. */
const COMPRESSED_TYPES = /^(?:application\/(?:json|x-ndjson|graphml\+xml)|text\/(?!event-stream))/;

/**
 * The preferred coding among the available ones; null for none (RFC 9110 section 12.5.3). Equal weights: the best one.
 * @param codings available, best first; default: those for responses made on demand
 */
export function preferredCoding<C extends string = Coding>(
  acceptEncoding: string | null,
  codings: readonly C[] = CODINGS as readonly string[] as readonly C[],
): C | null {
  if (acceptEncoding === null || acceptEncoding === "") return null;
  const weights = new Map<string, number>();
  for (const item of acceptEncoding.toLowerCase().split(",")) {
    const [name = "", ...parameters] = item.split(";").map((part) => part.trim());
    const weight = parameters.find((part) => part.startsWith("q="))?.slice(2);
    weights.set(name, weight === undefined ? 1 : Number(weight));
  }
  let preferred: C | null = null;
  let highest = 0;
  for (const coding of codings) {
    const weight = weights.get(coding) ?? weights.get("*") ?? 0;
    if (weight > highest) [preferred, highest] = [coding, weight];
  }
  return preferred;
}

/**
 * Compresses a response in a coding that its request accepts. Responses with no-store are left uncompressed: they
 * contain secrets, and their compressed size next to caller-chosen text would reveal them (BREACH).
 * @param onError called with a compression error; errors of the stream itself are reported at their source
 */
export function compressResponse(
  request: Request,
  response: Response,
  onError: (error: unknown) => void,
): Response | Promise<Response> {
  const coding = preferredCoding(request.headers.get("accept-encoding"));
  if (coding === null) return response;
  if (response.status === 304) return notModified(request, response, coding);
  if (!isCompressed(request, response)) return response;
  const { body } = response;
  if (body !== null && isByteStream(body)) {
    return new Response(
      byteStream("", compressedChunks(body, coding, onError), "", () => {}),
      { headers: compressedHeaders(response, coding) },
    );
  }
  return response.bytes().then(async (read) => {
    const bytes = toBytes(read);
    if (bytes.length < MIN_BYTES) return new Response(bytes, { headers: response.headers });
    return new Response(await compress(bytes, coding), { headers: compressedHeaders(response, coding) });
  });
}

function isCompressed(request: Request, { status, headers }: Response): boolean {
  return (
    status === 200 &&
    request.method !== "HEAD" &&
    COMPRESSED_TYPES.test(headers.get("content-type") ?? "") &&
    !headers.has("content-encoding") &&
    !headers.has("set-cookie") &&
    headers.get("cache-control") !== "no-store"
  );
}

/** A 304 has the ETag of the coding that the client holds. */
function notModified(request: Request, response: Response, coding: Coding): Response {
  const tag = response.headers.get("etag");
  const expectedTag = tag === null ? "" : codedTag(tag, coding);
  if (tag !== null && request.headers.get("if-none-match")?.includes(expectedTag) === true)
    response.headers.set("etag", expectedTag);
  return response;
}

function compressedHeaders(response: Response, coding: Coding): Headers {
  const headers = new Headers(response.headers);
  headers.set("content-encoding", coding);
  const tag = headers.get("etag");
  if (tag !== null) headers.set("etag", codedTag(tag, coding));
  return headers;
}

function compress(
  bytes: Uint8Array<ArrayBuffer>,
  coding: Coding,
): Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>> {
  if (bytes.length <= SYNC_MAX_BYTES)
    return coding === "gzip"
      ? Bun.gzipSync(bytes, { level: LEVEL })
      : toBytes(Bun.zstdCompressSync(bytes, { level: LEVEL }));
  return coding === "gzip"
    ? Array.fromAsync(compressedChunks(new Blob([bytes]).stream(), coding, () => {})).then(concatenate)
    : Bun.zstdCompress(bytes, { level: LEVEL }).then(toBytes);
}

function toBytes(buffer: Uint8Array): Uint8Array<ArrayBuffer> {
  return buffer as Uint8Array<ArrayBuffer>;
}

function concatenate(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return toBytes(Buffer.concat(chunks));
}

/** Reads the stream only as fast as the compressed output is consumed. */
async function* compressedChunks(
  stream: ReadableStream<Uint8Array>,
  coding: Coding,
  onError: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  const compressor =
    coding === "gzip"
      ? createGzip({ level: LEVEL })
      : createZstdCompress({ params: { [zlib.ZSTD_c_compressionLevel]: LEVEL } });
  const reader = stream.getReader();
  let isStreamBroken = false;
  const feed = async () => {
    for (;;) {
      const next = await reader.read().catch((error) => {
        isStreamBroken = true;
        throw error;
      });
      if (next.done || compressor.destroyed) break;
      if (!compressor.write(next.value)) await untilDrained(compressor);
    }
    compressor.end();
  };
  feed().catch((error: Error) => compressor.destroy(error));
  try {
    for await (const chunk of compressor) yield chunk as Uint8Array;
  } catch (error) {
    if (!isStreamBroken) onError(error);
    throw error;
  } finally {
    compressor.destroy();
    reader.cancel().catch(() => {});
  }
}

function untilDrained(compressor: Writable): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      compressor.off("drain", settle);
      compressor.off("close", settle);
      resolve();
    };
    compressor.on("drain", settle);
    compressor.on("close", settle);
  });
}
