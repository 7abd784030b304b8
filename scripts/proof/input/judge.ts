// Criteria for an answer and the effects of its request. Must not send anything.

import type { Answer } from "../../../test/support/appliance/client.ts";
import type { OpenApiDocument } from "../../../test/support/contract/openapi.ts";
import { PASSWORD } from "../../../test/support/executable/executable.ts";
import { SECRET_MARK } from "./generate.ts";
import type { WireAnswer } from "./wire.ts";
import { MARKS, type Transaction, type Whose } from "./world.ts";

export interface Sent {
  readonly method: string;
  readonly target: string;
  /** Organization of the caller. */
  readonly whose: Whose;
}

/** New ledger transactions during the request, per organization. */
export interface Happened {
  readonly first: readonly Transaction[];
  readonly second: readonly Transaction[];
  /** What changed outside the ledger: secrets, passwords, keys, sessions. */
  readonly besides: readonly string[];
}

/** Texts that occur only in exceptions or SQL. */
const INTERNALS =
  /TypeError|RangeError|SyntaxError|SQLITE_|SELECT .* FROM|undefined is not|is not a function|Cannot read|\.ts:\d|node_modules|no such (table|column)/;

/** @returns one sentence per fault; empty if there are none */
export function faults(document: OpenApiDocument, sent: Sent, raw: WireAnswer, happened: Happened): string[] {
  const { method, whose: own } = sent;
  const answer = asAnswer(raw);
  const found: string[] = [];
  if (answer === null)
    return [`answered ${raw.status} with what is not JSON: ${raw.body.toString("latin1").slice(0, 200)}`];
  if (answer.status >= 500) found.push(`answered ${answer.status}: ${answer.text.slice(0, 300)}`);
  if (answer.status < 200 || answer.status > 499) found.push(`answered ${answer.status}`);
  if (method === "HEAD" && raw.body.length > 0) found.push("answered HEAD with a body");
  found.push(...documentProblems(document, sent, answer));
  const requestId = answer.headers.get("x-request-id");
  if (requestId === null) found.push("answered without X-Request-Id");
  if (answer.headers.has("x-evil")) found.push("answered with an injected header");
  if (answer.text.includes(SECRET_MARK) || answer.text.includes(PASSWORD))
    found.push("the answer contains a secret that was sent");
  if (answer.status >= 400 && INTERNALS.test(answer.text))
    found.push(`the answer reveals internals: ${INTERNALS.exec(answer.text)?.[0]}`);
  const foreign = own === "first" ? "second" : "first";
  if (answer.text.includes(MARKS[foreign])) found.push(`the answer contains data of the ${foreign} organization`);
  const isIts = (each: Transaction) => each.request_id === requestId;
  if (happened[foreign].some(isIts)) found.push(`the ${foreign} organization's ledger was written to`);
  if (answer.status >= 400 && happened[own].some(isIts)) found.push("was refused, but the ledger was written to");
  if (answer.status >= 400 && happened.besides.length > 0)
    found.push(`was refused with ${answer.status}, but ${happened.besides.join(" and ")} have changed`);
  if (["GET", "HEAD", "OPTIONS"].includes(method) && happened[own].some(isIts))
    found.push("was a read, but the ledger was written to");
  return found;
}

/** By the path as sent, or without its dot segments: Bun tries routes by both (RFC 3986 section 5.2.4). */
function documentProblems(document: OpenApiDocument, { method, target }: Sent, answer: Answer): string[] {
  const problems = document.problems(method, target, answer);
  const url = problems.length === 0 ? null : URL.parse(target, "http://localhost");
  return url !== null && document.problems(method, url.pathname + url.search, answer).length === 0 ? [] : problems;
}

/** @returns null if the body claims to be JSON, but is not */
function asAnswer(raw: WireAnswer): Answer | null {
  const headers = new Headers(raw.headers.map(([name, value]) => [name, value] as [string, string]));
  const isJson = (headers.get("content-type") ?? "").startsWith("application/json");
  try {
    const text = decoded(raw.body, headers.get("content-encoding")).toString("utf8");
    const body = isJson && text !== "" ? JSON.parse(text) : null;
    return { status: raw.status, headers, text, body, data: body?.data };
  } catch {
    return null;
  }
}

/** Decoded content of an answer. @throws for a body that does not match its coding */
function decoded(body: Buffer, coding: string | null): Buffer {
  if (body.length === 0 || coding === null) return body;
  if (coding === "gzip") return Buffer.from(Bun.gunzipSync(new Uint8Array(body)));
  if (coding === "zstd") return Bun.zstdDecompressSync(body);
  throw new Error(`nobody asked for the coding ${coding}`);
}
