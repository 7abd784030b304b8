// Reads a JSON body within its limit. Each way it can be wrong has its own answer.

import { DomainError } from "../base/errors.ts";

export const BODY_LIMIT_BYTES = 8 * 1024 * 1024;
/** Arrays and objects in each other: the deepest body that the API knows has seven. */
export const BODY_MAX_DEPTH = 64;
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
  return parseJson(await readBytes(request, limitBytes, allowance));
}

/** As readJson, for an operation that needs no body: undefined where there is none. */
export async function readOptionalJson(request: Request, limitBytes: number, allowance: BodyAllowance): Promise<unknown> {
  const bytes = await readBytes(request, limitBytes, allowance);
  return bytes.length === 0 ? undefined : parseJson(bytes);
}

function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new DomainError("malformed_json", "The body is not valid UTF-8.", {});
  }
  if (text.trim() === "") throw new DomainError("malformed_json", "The body is empty: a JSON value is required.", {});
  // Before it is parsed: a few megabytes of brackets become half a gigabyte of objects.
  if (isDeeperThan(text, BODY_MAX_DEPTH)) {
    throw new DomainError("malformed_json", `The body nests arrays and objects more than ${BODY_MAX_DEPTH} deep.`, { max_depth: BODY_MAX_DEPTH });
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's words may quote the body, and with it a secret.
    const position = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined;
    throw new DomainError("malformed_json", "The body is not valid JSON.", position === undefined ? {} : { position: Number(position) });
  }
}

async function readBytes(request: Request, limitBytes: number, allowance: BodyAllowance): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array(0);
  // One buffer that grows: a body sent byte by byte must not become a million small ones.
  let bytes = new Uint8Array(Math.min(limitBytes, 4_096));
  let length = 0;
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    if (length + chunk.length > limitBytes) throw tooLarge(limitBytes);
    allowance.take(chunk.length);
    if (length + chunk.length > bytes.length) {
      const larger = new Uint8Array(Math.min(limitBytes, Math.max(2 * bytes.length, length + chunk.length)));
      larger.set(bytes.subarray(0, length));
      bytes = larger;
    }
    bytes.set(chunk, length);
    length += chunk.length;
  }
  return bytes.subarray(0, length);
}

/** Whether brackets outside of strings nest deeper than that; counts, checks nothing else. */
function isDeeperThan(text: string, depth: number): boolean {
  let open = 0;
  let isInString = false;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (isInString) {
      if (code === BACKSLASH) i += 1;
      else if (code === QUOTE) isInString = false;
    } else if (code === QUOTE) isInString = true;
    else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      open += 1;
      if (open > depth) return true;
    } else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) open -= 1;
  }
  return false;
}

const [BACKSLASH, QUOTE, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5c, 0x22, 0x5b, 0x5d, 0x7b, 0x7d];

function tooLarge(limitBytes: number): DomainError {
  return new DomainError("payload_too_large", `The body is larger than ${limitBytes / 1024 / 1024} MiB.`, { limit_bytes: limitBytes });
}
