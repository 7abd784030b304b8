// Reads a JSON body within its limit. Each way it can be wrong has its own answer.

import { DomainError } from "../base/errors.ts";

export const BODY_LIMIT_BYTES = 8 * 1024 * 1024;
/** Of a bulk: up to 1,000 hosts with all that is theirs. */
export const BULK_BODY_LIMIT_BYTES = 64 * 1024 * 1024;
/** Arrays and objects in each other: the deepest body that the API knows has seven. */
export const BODY_MAX_DEPTH = 64;
/** Arrays and objects of one body: 64 MiB of empty ones would become two gigabytes. */
export const BODY_MAX_CONTAINERS = 1_000_000;
/** Of what anybody may send without credentials: they need a few hundred bytes. */
export const SIGN_IN_BODY_LIMIT_BYTES = 16 * 1024;
/** All bodies that wait for their end or for their answer. */
export const BODIES_LIMIT_BYTES = 128 * 1024 * 1024;

/** What one request has sent counts until it is answered: parsed, it waits in the line of the writer. */
export class BodyAllowance {
  /** Over all requests. */
  private static heldBytes = 0;
  private ownBytes = 0;

  /** @throws DomainError rate_limit_exceeded */
  take(bytes: number): void {
    if (BodyAllowance.heldBytes + bytes > BODIES_LIMIT_BYTES) {
      throw new DomainError("rate_limit_exceeded", "Too much is being sent at once; try again in a second.", { retry_after_seconds: 1 });
    }
    this.ownBytes += bytes;
    BodyAllowance.heldBytes += bytes;
  }

  release(): void {
    BodyAllowance.heldBytes -= this.ownBytes;
    this.ownBytes = 0;
  }
}

/**
 * @param allowance what arrives is taken from it; the caller releases it when the request is answered
 * @returns the parsed JSON value
 * @throws DomainError unsupported_media_type, payload_too_large, malformed_json, rate_limit_exceeded
 */
export async function readJson(request: Request, limitBytes: number, allowance: BodyAllowance): Promise<unknown> {
  assertReadable(request, limitBytes);
  return parseJson(await readBytes(request, limitBytes, allowance, OWN));
}

/**
 * As readJson, but as it came, for a thread that may stand still while it parses: the memory is shared, so that handing it over costs nothing.
 * @param digest is shown what arrives, piece by piece: all at once would be felt
 * @throws DomainError unsupported_media_type, payload_too_large, rate_limit_exceeded
 */
export async function readShared(request: Request, limitBytes: number, allowance: BodyAllowance, digest: Bun.CryptoHasher | null): Promise<Uint8Array> {
  assertReadable(request, limitBytes);
  return readBytes(request, limitBytes, allowance, { ...SHARED, notice: (chunk) => digest?.update(chunk) });
}

/** As readJson, for an operation that needs no body: undefined where there is none. */
export async function readOptionalJson(request: Request, limitBytes: number, allowance: BodyAllowance): Promise<unknown> {
  const bytes = await readBytes(request, limitBytes, allowance, OWN);
  return bytes.length === 0 ? undefined : parseJson(bytes);
}

/** @throws DomainError unsupported_media_type, payload_too_large */
function assertReadable(request: Request, limitBytes: number): void {
  const type = (request.headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    throw new DomainError("unsupported_media_type", "The body must be JSON: send the header Content-Type: application/json.", { content_type: type ?? "" });
  }
  const encoding = request.headers.get("content-encoding");
  if (encoding !== null && encoding.trim().toLowerCase() !== "identity") {
    throw new DomainError("unsupported_media_type", "Compressed bodies are not taken: send it as it is, without Content-Encoding.", { content_encoding: encoding.slice(0, 100) });
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
  // Before it is parsed: a few megabytes of brackets become half a gigabyte of objects.
  assertModest(text);
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's words may quote the body, and with it a secret.
    const position = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined;
    throw new DomainError("malformed_json", "The body is not valid JSON.", position === undefined ? {} : { position: Number(position) });
  }
}

/** Where a body is kept while it grows. */
interface Room {
  readonly make: (limitBytes: number) => Uint8Array;
  /** The same bytes with room for `size`. */
  readonly enlarge: (bytes: Uint8Array, size: number) => Uint8Array;
  /** Is shown each piece as it arrives. */
  readonly notice?: (chunk: Uint8Array) => void;
}

const OWN: Room = {
  make: (limitBytes) => new Uint8Array(Math.min(limitBytes, 4_096)),
  enlarge: (bytes, size) => {
    const larger = new Uint8Array(size);
    larger.set(bytes);
    return larger;
  },
};

/** Grows in place: nothing is copied twice, however large it becomes. */
const SHARED: Room = {
  make: (limitBytes) => new Uint8Array(new SharedArrayBuffer(Math.min(limitBytes, 65_536), { maxByteLength: limitBytes })),
  enlarge: (bytes, size) => {
    // A view of a whole buffer that grows, grows with it.
    (bytes.buffer as SharedArrayBuffer).grow(size);
    return bytes;
  },
};

async function readBytes(request: Request, limitBytes: number, allowance: BodyAllowance, room: Room): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array(0);
  // One buffer that grows: a body sent byte by byte must not become a million small ones.
  let bytes = room.make(limitBytes);
  let length = 0;
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    if (length + chunk.length > limitBytes) throw tooLarge(limitBytes);
    allowance.take(chunk.length);
    if (length + chunk.length > bytes.length) bytes = room.enlarge(bytes, Math.min(limitBytes, Math.max(2 * bytes.length, length + chunk.length)));
    bytes.set(chunk, length);
    room.notice?.(chunk);
    length += chunk.length;
  }
  return bytes.subarray(0, length);
}

/**
 * Counts brackets outside of strings, checks nothing else.
 * @throws DomainError malformed_json for arrays and objects too deep in each other, or too many
 */
function assertModest(text: string): void {
  let open = 0;
  let count = 0;
  let isInString = false;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (isInString) {
      if (code === BACKSLASH) i += 1;
      else if (code === QUOTE) isInString = false;
    } else if (code === QUOTE) isInString = true;
    else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      open += 1;
      count += 1;
      if (open > BODY_MAX_DEPTH) throw new DomainError("malformed_json", `The body nests arrays and objects more than ${BODY_MAX_DEPTH} deep.`, { max_depth: BODY_MAX_DEPTH });
      if (count > BODY_MAX_CONTAINERS) throw new DomainError("malformed_json", `The body has more than ${BODY_MAX_CONTAINERS} arrays and objects.`, { max_containers: BODY_MAX_CONTAINERS });
    } else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) open -= 1;
  }
}

const [BACKSLASH, QUOTE, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5c, 0x22, 0x5b, 0x5d, 0x7b, 0x7d];

function tooLarge(limitBytes: number): DomainError {
  return new DomainError("payload_too_large", `The body is larger than ${limitBytes / 1024 / 1024} MiB.`, { limit_bytes: limitBytes });
}
