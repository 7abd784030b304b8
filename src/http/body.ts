// Request-body reader with size limits, and JSON parser, with a specific error for every kind of failure.

import { DomainError } from "../base/errors.ts";
import { exceededBound } from "../base/json-bounds.ts";
import type { Timers } from "../base/timers.ts";

export const BODY_LIMIT_BYTES = 8 * 1024 * 1024;
/** Limit of a bulk write: up to 1,000 hosts with all their children. */
export const BULK_BODY_LIMIT_BYTES = 64 * 1024 * 1024;
/** Maximum nesting of arrays and objects: the deepest body of the API has seven levels. */
export const BODY_MAX_DEPTH = 64;
/** Maximum number of arrays and objects in a body: 64 MiB of empty ones would take two gigabytes of memory. */
export const BODY_MAX_CONTAINERS = 1_000_000;
/** Limit of a body sent without credentials: sign-ins need a few hundred bytes. */
export const SIGN_IN_BODY_LIMIT_BYTES = 16 * 1024;
/** Limit of a user's client preferences. */
export const PREFERENCES_LIMIT_BYTES = 16 * 1024;
/** Total of all bodies being received or awaiting their response, except the first SMALL_BODY_BYTES of each. */
export const BODIES_LIMIT_BYTES = 128 * 1024 * 1024;
/** Total per caller: the largest bulk write, and smaller requests at the same time. */
export const BODIES_OF_CALLER_LIMIT_BYTES = 72 * 1024 * 1024;
/** Always accepted of each body, regardless of other uploads, so that everyday writes keep working. */
export const SMALL_BODY_BYTES = 64 * 1024;
/** Maximum wait for the next MiB of a body, or its end. */
export const BODY_TIMEOUT_MS = 60_000;
const MIB = 1024 * 1024;

/** Memory accounting for the bodies of all pending requests: a parsed body still waits for the writer. */
export class BodyMemory {
  readonly timers: Timers;
  private sharedBytes = 0;
  private readonly bytesOf = new Map<unknown, number>();

  constructor(timers: Timers) {
    this.timers = timers;
  }

  /** Total size of the bodies held. */
  get heldBytes(): number {
    return [...this.bytesOf.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  /** @throws DomainError rate_limit_exceeded */
  take(caller: unknown, bytes: number, sharedBytes: number): void {
    const held = (this.bytesOf.get(caller) ?? 0) + bytes;
    if (held > BODIES_OF_CALLER_LIMIT_BYTES || this.sharedBytes + sharedBytes > BODIES_LIMIT_BYTES) {
      throw new DomainError("rate_limit_exceeded", "Too many bodies are being received; try again in a second.", {
        retry_after_seconds: 1,
      });
    }
    this.bytesOf.set(caller, held);
    this.sharedBytes += sharedBytes;
  }

  release(caller: unknown, bytes: number, sharedBytes: number): void {
    const held = (this.bytesOf.get(caller) ?? 0) - bytes;
    if (held > 0) this.bytesOf.set(caller, held);
    else this.bytesOf.delete(caller);
    this.sharedBytes -= sharedBytes;
  }
}

/** Body allowance of one request. */
export class BodyAllowance {
  readonly memory: BodyMemory;
  private readonly caller: unknown;
  private ownBytes = 0;

  /** @param caller whose quota it counts against */
  constructor(memory: BodyMemory, caller: unknown) {
    this.memory = memory;
    this.caller = caller;
  }

  /** Bytes received. */
  get bytes(): number {
    return this.ownBytes;
  }

  /** @throws DomainError rate_limit_exceeded */
  take(bytes: number): void {
    this.memory.take(this.caller, bytes, beyondSmall(this.ownBytes + bytes) - beyondSmall(this.ownBytes));
    this.ownBytes += bytes;
  }

  release(): void {
    this.memory.release(this.caller, this.ownBytes, beyondSmall(this.ownBytes));
    this.ownBytes = 0;
  }
}

function beyondSmall(bytes: number): number {
  return Math.max(0, bytes - SMALL_BODY_BYTES);
}

/**
 * @param allowance charged for received bytes; the caller releases it after the response
 * @returns the raw body
 * @throws DomainError unsupported_media_type, payload_too_large, rate_limit_exceeded
 */
export async function readBody(request: Request, limitBytes: number, allowance: BodyAllowance): Promise<Uint8Array> {
  assertReadable(request, limitBytes);
  return readBytes(request, limitBytes, allowance, OWN);
}

/**
 * Like readBody, into shared memory: passing it to another thread costs nothing, regardless of its size.
 * @param digest updated with each chunk: hashing everything at once would block too long
 * @throws DomainError unsupported_media_type, payload_too_large, rate_limit_exceeded
 */
export async function readShared(
  request: Request,
  limitBytes: number,
  allowance: BodyAllowance,
  digest: Bun.CryptoHasher | null,
  form: BodyForm = JSON_FORM,
): Promise<Uint8Array> {
  assertReadable(request, limitBytes, form);
  return readBytes(request, limitBytes, allowance, { ...SHARED, onChunk: (chunk) => digest?.update(chunk) });
}

/** Like readBody, for operations with an optional body: accepts any media type; empty if there is none. */
export async function readOptionalBody(
  request: Request,
  limitBytes: number,
  allowance: BodyAllowance,
): Promise<Uint8Array> {
  return readBytes(request, limitBytes, allowance, OWN);
}

/** Expected media type, and its name in errors. */
interface BodyForm {
  readonly type: string;
  readonly label: string;
}

const JSON_FORM: BodyForm = { type: "application/json", label: "JSON" };
/** A table; UTF-8 unless Content-Type specifies another charset. */
export const CSV_FORM: BodyForm = { type: "text/csv", label: "CSV" };

/** The charset of Content-Type; null for none. */
export function charsetOf(request: Request): string | null {
  return /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(request.headers.get("content-type") ?? "")?.[1]?.toLowerCase() ?? null;
}

/** @throws DomainError unsupported_media_type, payload_too_large */
function assertReadable(request: Request, limitBytes: number, form: BodyForm = JSON_FORM): void {
  const type = (request.headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase();
  if (type !== form.type) {
    throw new DomainError(
      "unsupported_media_type",
      `The body must be ${form.label}: send the header Content-Type: ${form.type}.`,
      { content_type: type ?? "" },
    );
  }
  const encoding = request.headers.get("content-encoding");
  if (encoding !== null && encoding.trim().toLowerCase() !== "identity") {
    throw new DomainError(
      "unsupported_media_type",
      "Compressed bodies are not supported: send it without Content-Encoding.",
      { content_encoding: encoding.slice(0, 100) },
    );
  }
  const declared = Number(request.headers.get("content-length") ?? "0");
  if (declared > limitBytes) throw tooLarge(limitBytes);
}

/** @throws DomainError malformed_json */
export function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new DomainError("malformed_json", "The body is not valid UTF-8.", {});
  }
  if (text.trim() === "") throw new DomainError("malformed_json", "The body is empty: a JSON value is required.", {});
  // Before parsing: a few megabytes of brackets would take half a gigabyte of memory.
  assertWithinBounds(text);
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's message may quote the body, and with it a secret.
    const position = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined;
    throw new DomainError(
      "malformed_json",
      "The body is not valid JSON.",
      position === undefined ? {} : { position: Number(position) },
    );
  }
}

/** Buffer for a body being received. */
interface BufferMemory {
  readonly make: (limitBytes: number) => Uint8Array;
  /** Returns the same bytes with room for `size`. */
  readonly enlarge: (bytes: Uint8Array, size: number) => Uint8Array;
  /** Called with each chunk as it arrives. */
  readonly onChunk?: (chunk: Uint8Array) => void;
}

const OWN: BufferMemory = {
  make: (limitBytes) => new Uint8Array(Math.min(limitBytes, 4_096)),
  enlarge: (bytes, size) => {
    const larger = new Uint8Array(size);
    larger.set(bytes);
    return larger;
  },
};

/** Grows in place without copying, regardless of the size. */
const SHARED: BufferMemory = {
  make: (limitBytes) =>
    new Uint8Array(new SharedArrayBuffer(Math.min(limitBytes, 65_536), { maxByteLength: limitBytes })),
  enlarge: (bytes, size) => {
    // A view of a whole growable buffer grows with it.
    (bytes.buffer as SharedArrayBuffer).grow(size);
    return bytes;
  },
};

async function readBytes(
  request: Request,
  limitBytes: number,
  allowance: BodyAllowance,
  memory: BufferMemory,
): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array(0);
  // One growing buffer: a body sent byte by byte must not allocate a million small ones.
  let bytes = memory.make(limitBytes);
  let length = 0;
  for await (const chunk of withTimeout(request.body, allowance.memory.timers)) {
    if (length + chunk.length > limitBytes) throw tooLarge(limitBytes);
    allowance.take(chunk.length);
    if (length + chunk.length > bytes.length)
      bytes = memory.enlarge(bytes, Math.min(limitBytes, Math.max(2 * bytes.length, length + chunk.length)));
    bytes.set(chunk, length);
    memory.onChunk?.(chunk);
    length += chunk.length;
  }
  return bytes.subarray(0, length);
}

/**
 * Chunks of the body within the time limit: a slow sender would hold a connection and memory indefinitely.
 * @throws DomainError malformed_json for an incomplete body
 */
async function* withTimeout(body: ReadableStream<Uint8Array>, timers: Timers): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  let isTimedOut = false;
  const cancelRead = () => void reader.cancel().catch(() => {});
  const wait = () =>
    timers.after(BODY_TIMEOUT_MS, () => {
      isTimedOut = true;
      cancelRead();
    });
  let cancelTimeout = wait();
  let sinceBytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (isTimedOut)
        throw new DomainError(
          "malformed_json",
          `The body is incomplete: its next MiB did not arrive within ${BODY_TIMEOUT_MS / 1_000} seconds.`,
        );
      if (done) return;
      sinceBytes += value.length;
      if (sinceBytes >= MIB) {
        cancelTimeout();
        cancelTimeout = wait();
        sinceBytes = 0;
      }
      yield value;
    }
  } finally {
    cancelTimeout();
    // Discards the rest.
    cancelRead();
  }
}

/** @throws DomainError malformed_json for too deeply nested or too many arrays and objects */
function assertWithinBounds(text: string): void {
  const exceeded = exceededBound(text, BODY_BOUNDS);
  if (exceeded === "depth")
    throw new DomainError("malformed_json", `The body nests arrays and objects more than ${BODY_MAX_DEPTH} deep.`, {
      max_depth: BODY_MAX_DEPTH,
    });
  if (exceeded === "containers")
    throw new DomainError("malformed_json", `The body has more than ${BODY_MAX_CONTAINERS} arrays and objects.`, {
      max_containers: BODY_MAX_CONTAINERS,
    });
}

/** The size limit bounds the commas. */
const BODY_BOUNDS = { depth: BODY_MAX_DEPTH, containers: BODY_MAX_CONTAINERS, commas: Number.POSITIVE_INFINITY };

/** Error for a body beyond its limit. */
export function tooLarge(limitBytes: number): DomainError {
  const limit = limitBytes < MIB ? `${limitBytes / 1024} KiB` : `${limitBytes / MIB} MiB`;
  return new DomainError("payload_too_large", `The body is larger than ${limit}.`, { limit_bytes: limitBytes });
}
