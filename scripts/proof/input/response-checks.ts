// Checks for responses and for the effects of their requests. Sends nothing.

import type { ApiResponse } from "../../../test/support/appliance/client.ts";
import type { OpenApiDocument } from "../../../test/support/contract/openapi.ts";
import { PASSWORD } from "../../../test/support/executable/executable.ts";
import { MARKS, type OrgLabel, type Transaction } from "./fixture.ts";
import { SECRET_MARK } from "./generate.ts";
import type { WireResponse } from "./wire.ts";

export interface Sent {
  readonly method: string;
  readonly target: string;
  /** Organization of the caller. */
  readonly org: OrgLabel;
}

/** New ledger transactions during the request, per organization. */
export interface Effects {
  readonly first: readonly Transaction[];
  readonly second: readonly Transaction[];
  /** Names of data outside the ledger that changed: secrets, passwords, keys, sessions. */
  readonly otherChanges: readonly string[];
}

export const NO_EFFECTS: Effects = { first: [], second: [], otherChanges: [] };

/** Strings that occur only in exceptions or SQL. */
const INTERNALS =
  /TypeError|RangeError|SyntaxError|SQLITE_|SELECT .* FROM|undefined is not|is not a function|Cannot read|\.ts:\d|node_modules|no such (table|column)/;

/** Finds the faults of a response. @returns one sentence per fault */
export function faults(document: OpenApiDocument, sent: Sent, raw: WireResponse, effects: Effects): string[] {
  const { method, org: ownOrg } = sent;
  const response = toResponse(raw);
  const found: string[] = [];
  if (response === null)
    return [`returned ${raw.status} with invalid JSON: ${raw.body.toString("latin1").slice(0, 200)}`];
  if (response.status >= 500) found.push(`returned ${response.status}: ${response.text.slice(0, 300)}`);
  if (response.status < 200 || response.status > 499) found.push(`returned ${response.status}`);
  if (method === "HEAD" && raw.body.length > 0) found.push("returned a body for HEAD");
  found.push(...documentProblems(document, sent, response));
  const requestId = response.headers.get("x-request-id");
  if (requestId === null) found.push("returned no X-Request-Id");
  if (response.headers.has("x-evil")) found.push("returned an injected header");
  if (response.text.includes(SECRET_MARK) || response.text.includes(PASSWORD))
    found.push("the response contains a secret that was sent");
  if (response.status >= 400 && INTERNALS.test(response.text))
    found.push(`the response reveals internals: ${INTERNALS.exec(response.text)?.[0]}`);
  const foreign = ownOrg === "first" ? "second" : "first";
  if (response.text.includes(MARKS[foreign])) found.push(`the response contains data of the ${foreign} organization`);
  const isFromRequest = ({ request_id }: Transaction) => request_id === requestId;
  if (effects[foreign].some(isFromRequest)) found.push(`the ${foreign} organization's ledger was written to`);
  if (response.status >= 400 && effects[ownOrg].some(isFromRequest))
    found.push("was refused, but the ledger was written to");
  if (response.status >= 400 && effects.otherChanges.length > 0)
    found.push(`was refused with ${response.status}, but ${effects.otherChanges.join(" and ")} have changed`);
  if (["GET", "HEAD", "OPTIONS"].includes(method) && effects[ownOrg].some(isFromRequest))
    found.push("was a read, but the ledger was written to");
  return found;
}

/** Checks the path as sent, then without dot segments (RFC 3986 section 5.2.4): Bun tries routes by both. */
function documentProblems(document: OpenApiDocument, { method, target }: Sent, response: ApiResponse): string[] {
  const problems = document.problems(method, target, response);
  const url = problems.length === 0 ? null : URL.parse(target, "http://localhost");
  return url !== null && document.problems(method, url.pathname + url.search, response).length === 0 ? [] : problems;
}

/** Converts a raw response. @returns null if the body claims to be JSON, but is not */
function toResponse(raw: WireResponse): ApiResponse | null {
  const headers = new Headers(raw.headers.map(([name, value]) => [name, value] as [string, string]));
  const isJson = (headers.get("content-type") ?? "").startsWith("application/json");
  try {
    const text = decode(raw.body, headers.get("content-encoding")).toString("utf8");
    const body = isJson && text !== "" ? JSON.parse(text) : null;
    return { status: raw.status, headers, text, body, data: body?.data };
  } catch {
    return null;
  }
}

/** Decodes the content of a response. @throws Error for a body that does not match its coding */
function decode(body: Buffer, coding: string | null): Buffer {
  if (body.length === 0 || coding === null) return body;
  if (coding === "gzip") return Buffer.from(Bun.gunzipSync(new Uint8Array(body)));
  if (coding === "zstd") return Bun.zstdDecompressSync(body);
  throw new Error(`unexpected content coding ${coding}`);
}
