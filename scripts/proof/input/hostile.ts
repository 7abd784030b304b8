// Hand-written malicious requests: tables of bytes and expected results, one claim per table.

import type { DocumentedOperation, OpenApiDocument } from "../../../test/support/contract/openapi.ts";
import { type Finding, type Form, findingOf } from "../part.ts";
import { texts } from "../string-list.ts";
import type { InputFixture } from "./fixture.ts";
import { faults, NO_EFFECTS } from "./response-checks.ts";
import { type Exchange, type ExchangeOptions, exchange, type WireResponse } from "./wire.ts";

/** Returns the problems of an exchange; empty if there are none. */
type Check = (result: Exchange) => string[];

type Bytes = string | Uint8Array | AsyncIterable<string | Uint8Array>;

interface Case {
  readonly name: string;
  readonly bytes: Bytes;
  readonly check: Check;
  readonly options: ExchangeOptions;
}

const CONCURRENCY = 6;
/** Number of pipelined requests, below the limit of concurrent ones. */
const PIPELINED = 80;
const CRLF = "\r\n";
/** Request id of a smuggled request: no response may contain it. */
const SMUGGLED_ID = "hidden-in-another";

export async function hostileFindings(
  fixture: InputFixture,
  document: OpenApiDocument,
  form: Form,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  const table = async (claim: string, cases: readonly Case[], concurrency = CONCURRENCY) =>
    findings.push(await testCases(fixture, claim, cases, concurrency));
  await table("Oversized, endless and malformed heads are refused, and other clients are served", heads());
  await table("No line break of a request reaches the head of a response", injections());
  await table("Cookies of any form are read or ignored, and never crash a request", cookies());
  await table(
    "Chunked bodies are read completely or not at all, regardless of sizes, extensions and trailers",
    chunks(fixture),
  );
  await table(
    "No request can be smuggled in another's body: ambiguous lengths are refused, and their connection closed",
    smuggled(fixture),
  );
  await table(
    "A body shorter than its length writes nothing; an endless one is cut off at its limit",
    lengths(fixture),
  );
  await table("No spelling of a path reaches a protected operation or a file without credentials", paths());
  await table(
    "Unusual targets, versions, methods and protocols are served or refused, without switching protocols",
    protocols(fixture),
  );
  await table(
    "Pipelined requests get their responses in order; if one has to wait, the connection may be closed instead",
    pipelines(fixture),
    1,
  );
  findings.push(await testBodies(fixture, document, form));
  findings.push(await testPaths(fixture, document));
  return findings;
}

async function testCases(
  fixture: InputFixture,
  claim: string,
  cases: readonly Case[],
  concurrency: number,
): Promise<Finding> {
  const wrong: string[] = [];
  const before = await fixture.head();
  const statuses = new Map<string, number>();
  const testCase = async ({ name, bytes, check, options }: Case): Promise<void> => {
    const pieces = typeof bytes === "string" || bytes instanceof Uint8Array ? [bytes] : bytes;
    const result = await exchange(fixture.port, pieces, options);
    const found = [...generalProblems(result), ...check(result)];
    if (found.length > 0) wrong.push(`${name}: ${found.join("; ")}`);
    const outcome = (result.responses.map(({ status }) => status).join("+") || result.end).slice(0, 40);
    statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1);
    if ((await fixture.appliance.client().get("/api/health")).status !== 200)
      wrong.push(`${name}: other clients are no longer served`);
  };
  // A few at a time, as each waits for silence.
  for (let index = 0; index < cases.length; index += concurrency)
    await Promise.all(cases.slice(index, index + concurrency).map(testCase));
  // Cases that are expected to write have a request id with this prefix.
  const written = (await fixture.transactionsSince("first", before)).filter(
    ({ request_id }) => request_id === null || !request_id.startsWith("writes-"),
  );
  if (written.length > 0)
    wrong.push(`something was written by ${written.map(({ request_id }) => request_id).join(", ")}`);
  return findingOf(
    claim,
    wrong,
    `${cases.length} tried: ${[...statuses].map(([outcome, count]) => `${count} × ${outcome}`).join(", ")}`,
    wrong.join(" | ").slice(0, 3_000),
  );
}

/** Finds problems that no exchange may have. */
function generalProblems({ text, responses }: Exchange): string[] {
  // The HTTP parser returns 505 for an invalid request line; the appliance itself never does.
  const isFromParser = ({ status, headers }: WireResponse) =>
    status === 505 && header(headers, "x-request-id") === undefined;
  const found = responses
    .filter((response) => (response.status >= 500 && !isFromParser(response)) || response.status < 200)
    .map(({ status }) => `returned ${status}`);
  if (/^HTTP\/1\.1 101/m.test(text)) found.push("switched protocols");
  if (/^x-evil/im.test(text)) found.push("the response contains an injected header");
  if (text.includes(SMUGGLED_ID)) found.push("a smuggled request was served");
  if (/root:.*:0:0:/.test(text)) found.push("the response contains a local file");
  return found;
}

const expectEnd: Check = ({ responses, end }) =>
  responses.length === 0 && end === "open" ? ["neither a response nor a close"] : [];
const expectRefusal: Check = (result) =>
  result.responses.some(({ status }) => status < 400)
    ? [`returned ${result.responses.map(({ status }) => status).join(", ")}`]
    : expectEnd(result);
const expectStatuses =
  (...statuses: number[]): Check =>
  ({ responses, end }) =>
    responses.length === statuses.length && responses.every(({ status }, index) => status === statuses[index])
      ? []
      : [`${statuses.join(", ")} expected, got ${responses.map(({ status }) => status).join(", ") || end}`];
/** Expects at most one response of any kind, or a closed connection. */
const expectAtMostOne: Check = (result) =>
  result.responses.length > 1 ? [`${result.responses.length} responses`] : expectEnd(result);

/** Creates a case, which ends with the first response unless the options say otherwise. */
function caseOf(name: string, bytes: Bytes, check: Check, options: ExchangeOptions = { until: 1 }): Case {
  return { name, bytes, check, options };
}

function head(first: string, ...lines: string[]): string {
  return [`${first} HTTP/1.1`, "Host: 127.0.0.1", ...lines, "", ""].join(CRLF);
}

function heads(): Case[] {
  const filler = (count: number, length: number) =>
    Array.from({ length: count }, (_, n) => `X-${n}: ${"x".repeat(length)}`);
  const get = (...lines: string[]) => head("GET /api/version", ...lines);
  const noise = Uint8Array.from({ length: 50_000 }, (_, n) => (n * 7919) % 251);
  return [
    caseOf("90 headers", get(...filler(90, 20)), expectStatuses(200)),
    caseOf("a header of 8 kB", get(...filler(1, 8_000)), expectStatuses(200)),
    caseOf("a header of 300 kB", get(...filler(1, 300_000)), expectRefusal),
    caseOf("10,000 headers", get(...filler(10_000, 20)), expectRefusal),
    caseOf("a target of 300 kB", head(`GET /api/version?${"x".repeat(300_000)}`), expectRefusal),
    caseOf("a method of 300 kB", head(`${"X".repeat(300_000)} /api/version`), expectRefusal),
    caseOf("a name of 300 kB", get(`${"x".repeat(300_000)}: 1`), expectRefusal),
    caseOf(
      "an endless head",
      endless(get().slice(0, -2), `X-A: ${"x".repeat(1_000)}${CRLF}`, 20_000),
      expectRefusal,
      {},
    ),
    caseOf("an endless line", endless("GET /", "x".repeat(1_000), 20_000), expectRefusal, {}),
    caseOf("a header without a colon", get("nonsense"), expectRefusal),
    caseOf("a header without a name", get(": 1"), expectRefusal),
    caseOf("a space in a name", get("X Y: 1"), expectRefusal),
    caseOf("a space before the colon", get("X-Y : 1"), expectRefusal),
    caseOf("NUL in a name", get("X\0Y: 1"), expectRefusal),
    caseOf("only line ends", CRLF.repeat(1_000), expectAtMostOne, { halfClose: true }),
    caseOf("noise", noise, expectRefusal, { halfClose: true }),
  ];
}

async function* endless(start: string, piece: string, count: number): AsyncGenerator<string> {
  yield start;
  for (let n = 0; n < count; n += 1) yield piece;
}

function injections(): Case[] {
  const values = texts(`a\rX-Evil: 1 ¦ a\nX-Evil: 1 ¦ a\r\n X-Evil: 1 ¦ a\r\n\tX-Evil: 1 ¦ a\0X-Evil: 1 ¦
  a\x0bX-Evil: 1 ¦ a%0d%0aX-Evil: 1 ¦ a\u0085X-Evil: 1 ¦ å\u00ffX-Evil: 1 ¦ ${"a".repeat(200)}X-Evil: 1 ¦
  "\\r\\nX-Evil: 1"`);
  const names = ["X-Request-Id", "If-None-Match", "Origin", "Idempotency-Key", "Cookie", "Accept", "Host"];
  const echoed = texts(`/api/%0d%0aX-Evil:%201 ¦ /api/v1/hosts/%0d%0aX-Evil:%201 ¦
  /api/v1/backups/a%0d%0aX-Evil:%201 ¦ /api/version?%0d%0aX-Evil:%201=%0d%0aX-Evil:%201 ¦ /docs/%0d%0aX-Evil:%201 ¦
  /%0d%0aX-Evil:%201 ¦ /api/v1/hosts/export/csv?search=%0d%0aX-Evil:%201 ¦ /api/v1/hosts\rX-Evil:1 ¦
  /api\nX-Evil:1`);
  const noInjectedId: Check = ({ responses }) =>
    responses
      .filter(({ headers }) => /evil|[^\x20-\x7e]/i.test(header(headers, "x-request-id") ?? ""))
      .map(() => "the response contains an injected X-Request-Id");
  return [
    ...names.flatMap((name) =>
      values.map((value, n) => {
        const bytes = head("GET /api/version", `${name}: ${value}`, "Connection: close");
        return caseOf(`${name} ${n}`, bytes, noInjectedId, {});
      }),
    ),
    ...echoed.map((target) => caseOf(JSON.stringify(target), head(`GET ${target}`, "Connection: close"), () => [], {})),
  ];
}

function cookies(): Case[] {
  const malformed = texts(` ¦ ; ¦ ;;;; ¦ = ¦ =;= ¦ session_id ¦ session_id= ¦ session_id== ¦ session_id="a" ¦
  session_id=a; session_id=b ¦ SESSION_ID=a ¦ session_id=\u00e9 ¦ session_id=a\tb ¦ session_id=%00 ¦ session_id=%zz ¦
  session_id=${"a".repeat(7_000)} ¦ __proto__=a ¦ constructor=a; toString=b ¦
  ${Array.from({ length: 1_000 }, (_, n) => `c${n}=1`).join(";")} ¦ session_id=j:{} ¦ session_id=[object Object] ¦
  a=b;session_id ¦ $Version=1; session_id=a`);
  const expectSignedOut: Check = ({ responses: [response, ...others] }) =>
    others.length === 0 && [200, 401].includes(response?.status ?? 0) ? [] : [`returned ${response?.status}`];
  return malformed.flatMap((cookie) => {
    const [name, line] = [cookie.slice(0, 40), `Cookie: ${cookie}`];
    return [
      caseOf(`me with ${name}`, head("GET /api/auth/me", line), expectStatuses(401)),
      // The operations that set cookies read them differently.
      caseOf(`logout with ${name}`, head("POST /api/auth/logout", line, "Content-Length: 0"), expectSignedOut),
    ];
  });
}

/** Head of a POST request for a tag, by the first organization's Owner. */
function tagPostHead(fixture: InputFixture, id: string, ...lines: string[]): string {
  return head(
    "POST /api/v1/tags",
    `Cookie: ${fixture.cookie("owner")}`,
    "Content-Type: application/json",
    `X-Request-Id: ${id}`,
    ...lines,
  );
}

function tagJson(name: string): string {
  return JSON.stringify({ name: `wire ${name}`, color: "Green" });
}

function chunks(fixture: InputFixture): Case[] {
  const start = (id: string) => tagPostHead(fixture, id, "Transfer-Encoding: chunked");
  const chunk = (text: string, size = text.length.toString(16)) => `${size}${CRLF}${text}${CRLF}`;
  const end = `0${CRLF}${CRLF}`;
  const written = (name: string) => start(`writes-${name.replaceAll(" ", "-")}`);
  const accepted = (name: string, body: string) => caseOf(name, written(name) + body, expectStatuses(200));
  const tolerated = (name: string, body: string) => caseOf(name, written(name) + body, expectAtMostOne);
  const rejected = (name: string, body: string, options?: ExchangeOptions) =>
    caseOf(name, start("refused") + body, expectRefusal, options);
  const halfClosed = { until: 1, halfClose: true };
  const json = tagJson("bad");
  return [
    accepted("one chunk", chunk(tagJson("one chunk")) + end),
    accepted("one byte per chunk", [...tagJson("a byte a chunk")].map((byte) => chunk(byte)).join("") + end),
    accepted("upper case sizes", chunk(tagJson("u").padEnd(0xab, " "), "AB") + end),
    accepted("leading zeros", chunk(tagJson("zeros"), `0000${tagJson("zeros").length.toString(16)}`) + end),
    tolerated("an extension", chunk(tagJson("extension"), `${tagJson("extension").length.toString(16)};a=b`) + end),
    tolerated(
      "a long extension",
      chunk(tagJson("long extension"), `${tagJson("long extension").length.toString(16)};${"a".repeat(50_000)}`) + end,
    ),
    tolerated("a trailer", `${chunk(tagJson("trailer"))}0${CRLF}X-Evil: 1${CRLF}${CRLF}`),
    tolerated("a framing trailer", `${chunk(tagJson("framing trailer"))}0${CRLF}Content-Length: 5${CRLF}${CRLF}`),
    rejected("a non-hexadecimal size", chunk(json, "zz") + end),
    rejected("a negative size", chunk(json, "-5") + end),
    rejected("a size with 0x", chunk(json, `0x${json.length.toString(16)}`) + end),
    rejected("a size with a plus", chunk(json, `+${json.length.toString(16)}`) + end),
    rejected("an empty size", `${CRLF}${json}${CRLF}${end}`),
    rejected("an overflowing size", chunk(json, "FFFFFFFFFFFFFFFFFFFFFFFF") + end),
    rejected("a size of 2^64", chunk(json, "10000000000000000") + end, halfClosed),
    rejected("a size of 2^63", chunk(json, "8000000000000000") + end, halfClosed),
    rejected("a size too large", chunk(json, "ffffff") + end, halfClosed),
    rejected("a size too small", chunk(json, "2") + end),
    rejected("no line end after the data", `${json.length.toString(16)}${CRLF}${json}${end}`),
    rejected("cut off within a chunk", `ff${CRLF}${json}`, halfClosed),
    rejected("cut off between chunks", chunk(json), halfClosed),
    rejected("cut off within the size", "f", halfClosed),
    caseOf("two JSON texts", start("refused") + chunk(json) + chunk(json) + end, expectStatuses(400)),
    caseOf("endless chunks", endless(start("refused"), chunk(" ".repeat(65_536)), 2_000), expectStatuses(413)),
    caseOf("endless empty extensions", endless(`${start("refused")}1`, ";a", 500_000), expectRefusal),
    caseOf(
      "endless trailers",
      endless(`${start("refused")}${chunk("1")}0${CRLF}`, `X-A: ${"x".repeat(1_000)}${CRLF}`, 20_000),
      expectRefusal,
    ),
  ];
}

function smuggled(fixture: InputFixture): Case[] {
  const hidden = head("GET /api/version", `X-Request-Id: ${SMUGGLED_ID}`);
  const json = tagJson("smuggled");
  const chunked = `${json.length.toString(16)}${CRLF}${json}${CRLF}0${CRLF}${CRLF}`;
  const single = (name: string, bytes: string, methods: readonly string[] = []) =>
    caseOf(name, bytes, expectAtMostOne, { silenceMs: 1_500, until: 2, methods });
  const tagPost = (name: string, lines: readonly string[], body: string) =>
    single(name, tagPostHead(fixture, "writes-ambiguous", ...lines) + body);
  const withHidden = (name: string, line: string, ...lines: string[]) =>
    single(`${name} with a request as its body`, head(line, ...lines, `Content-Length: ${hidden.length}`) + hidden);
  const body = chunked + hidden;
  const length = `Content-Length: ${body.length}`;
  const hiddenLength = `Content-Length: ${2 + hidden.length}`;
  const codings = texts(`chunked, identity ¦ identity, chunked ¦ xchunked ¦ chunked, chunked ¦ gzip, chunked ¦
  \x0bchunked ¦ chunked\x0b ¦ "chunked" ¦ chunked;q=1 ¦  ¦ identity`);
  const declared = texts(`2, 2 ¦ 2 2 ¦ +2 ¦ 0x2 ¦ 2.0 ¦ 2e0 ¦ -1 ¦ -0 ¦ 02\x0b ¦ 2; ¦ ٢ ¦ 2,0 ¦ 99999999999999999999 ¦
  18446744073709551618 ¦ 4294967298`);
  return [
    tagPost("length and chunks", [length, "Transfer-Encoding: chunked"], body),
    tagPost("chunks and length", ["Transfer-Encoding: chunked", length], body),
    tagPost("length 0 and chunks", ["Content-Length: 0", "Transfer-Encoding: chunked"], body),
    ...codings.map((coding) =>
      tagPost(
        `Transfer-Encoding: ${JSON.stringify(coding)} and length`,
        [`Transfer-Encoding: ${coding}`, length],
        body,
      ),
    ),
    tagPost("a space before the colon", ["Transfer-Encoding : chunked", length], body),
    tagPost("a space before the name", ["X: 1", " Transfer-Encoding: chunked", length], body),
    tagPost("a tab after the colon", ["Transfer-Encoding:\tchunked", length], body),
    tagPost("another case", ["tRANSFER-eNCODING: cHUNKED", length], body),
    tagPost("two Transfer-Encodings", ["Transfer-Encoding: chunked", "Transfer-Encoding: identity", length], body),
    tagPost("two lengths, the small one first", ["Content-Length: 2", hiddenLength], `{}${hidden}`),
    tagPost("two lengths, the large one first", [hiddenLength, "Content-Length: 2"], `{}${hidden}`),
    ...declared.map((value) => tagPost(`Content-Length: ${value}`, [`Content-Length: ${value}`], `{}${hidden}`)),
    single(
      "line feeds alone",
      `POST /api/v1/tags HTTP/1.1\nHost: localhost\nContent-Length: 0\nTransfer-Encoding: chunked\n\n${hidden}`,
    ),
    withHidden("a GET", "GET /api/version"),
    withHidden("a refused POST", "POST /api/v1/tags", "Content-Type: application/json"),
    withHidden("an unknown path", "POST /api/nowhere"),
    withHidden(
      "an unsupported type",
      "POST /api/v1/tags",
      `Cookie: ${fixture.cookie("owner")}`,
      "Content-Type: text/plain",
    ),
    single("HEAD with a request as its body", head("HEAD /api/version", `Content-Length: ${hidden.length}`) + hidden, [
      "HEAD",
    ]),
    withHidden("OPTIONS", "OPTIONS /api/version"),
  ];
}

function lengths(fixture: InputFixture): Case[] {
  const json = tagJson("short");
  const start = (...lines: string[]) => tagPostHead(fixture, "refused", ...lines);
  const thousand = start("Content-Length: 1000");
  const tooSmall = `${start("Content-Length: 5")}${json}${CRLF}${CRLF}`;
  const short = { halfClose: true };
  return [
    caseOf("ten bytes of a thousand, then the end", thousand + json.slice(0, 10), expectRefusal, short),
    caseOf("a complete value, but fewer bytes than declared", thousand + json, expectRefusal, short),
    caseOf("none of a thousand bytes", thousand, expectRefusal, short),
    caseOf("neither length nor chunks", start(), expectRefusal),
    caseOf("a length beyond the limit", start(`Content-Length: ${9 * 1024 * 1024}`), expectStatuses(413)),
    caseOf("a length of 4 GB", start("Content-Length: 4294967296"), expectRefusal),
    caseOf(
      "a body beyond its limit",
      endless(start(`Content-Length: ${20 * 1024 * 1024}`), " ".repeat(65_536), 320),
      expectStatuses(413),
    ),
    caseOf(
      "a compressed body",
      `${start("Content-Encoding: gzip", "Content-Length: 4")}\x1f\x8b\x08\x00`,
      expectStatuses(415),
    ),
    caseOf("a length too small", tooSmall, expectRefusal, { silenceMs: 2_000, until: 2 }),
  ];
}

function paths(): Case[] {
  const protectedPaths = ["/api/v1/hosts", "/api/v1/organizations", "/api/auth/me"];
  const spellings = protectedPaths.flatMap((path) =>
    texts(`${path} ¦ /${path} ¦ //${path} ¦ ${path}/ ¦ ${path}// ¦ ${path}/. ¦ /.${path} ¦ /..${path} ¦
  /docs/..${path} ¦ /docs/%2e%2e${path} ¦ /docs/..%2f${path.slice(1)} ¦ /api/health/..${path.slice(4)} ¦
  /api/health/%2e%2e${path.slice(4)} ¦ /api/auth/setup/../../..${path} ¦ ${path.replace("/api", "/%61pi")} ¦
  ${path.replace("/api", "/API")} ¦ ${path.replaceAll("/", "%2f")} ¦ ${path.replaceAll("/", "\\")} ¦
  ${path.replaceAll("/", "/./")} ¦ ${path};/api/health ¦ ${path}%00/api/health ¦ ${path}%2f..%2fhealth ¦
  ${path}?/api/health ¦ ${path}#/api/health ¦ /api/health#${path} ¦ ${path}%20 ¦ ${path}%09 ¦ ${path}\t ¦ ${path}.json ¦
  ${path}%3f ¦ http://localhost${path} ¦ HTTP://localhost${path} ¦ http://user:secret@localhost${path} ¦
  //localhost${path} ¦ ?${path} ¦ *${path} ¦ ${path.slice(1)}`),
  );
  const files = texts(`/../../../../etc/passwd ¦ /..%2f..%2f..%2fetc%2fpasswd ¦ /%2e%2e/%2e%2e/etc/passwd ¦
  /docs/../../../etc/passwd ¦ /docs/..%2f..%2f..%2f..%2fetc/passwd ¦ /docs/%2fetc%2fpasswd ¦ /docs//etc/passwd ¦
  //etc/passwd ¦ /file:///etc/passwd ¦ /etc/passwd%00.js ¦ /docs/scalar.js/../../../../etc/passwd ¦
  /\\..\\..\\etc\\passwd ¦ /$bunfs/root/netledger ¦ /docs/$bunfs/root ¦ /proc/self/environ ¦ /.git/config ¦
  /data/netledger.db`);
  const long = texts(`/${"a".repeat(9_000)} ¦ /api/v1/hosts/${"a".repeat(9_000)} ¦ /api/v1/hosts${"/a".repeat(4_000)} ¦
  /api/v1/hosts/${"%20".repeat(3_000)} ¦ /api/%ff%fe ¦ /api/\xff\xfe ¦ /api/% ¦ /api/%zz ¦ /api/%00 ¦
  /api/v1/hosts/%C0%AE%C0%AE`);
  const expectNoLeak: Check = ({ responses }) =>
    responses.filter(isLeak).map(({ body }) => `returned 200 with ${body.toString("latin1").slice(0, 80)}`);
  return [...spellings, ...files, ...long].map((target) =>
    caseOf(target.slice(0, 80), head(`GET ${target}`, "Connection: close"), expectNoLeak, {}),
  );
}

/** Whether a response leaks data. Documentation, health, version and setup state are public; other data is not. */
function isLeak({ status, body, headers }: WireResponse): boolean {
  if (status !== 200) return false;
  const text = body.toString("latin1");
  const type = header(headers, "content-type") ?? "";
  if (!type.startsWith("application/json"))
    return !/^<!doctype html/i.test(text.trimStart()) && !type.includes("javascript");
  return (
    !text.startsWith('{"openapi"') &&
    !/^\{"success":true,"data":\{"(status|version|setup_needed|needed|is_needed)"/.test(text)
  );
}

function protocols(fixture: InputFixture): Case[] {
  const closing = "Connection: close";
  const raw = (
    name: string,
    bytes: string | Uint8Array,
    check: Check = expectAtMostOne,
    options: ExchangeOptions = { until: 1, halfClose: true },
  ) => caseOf(name, bytes, check, options);
  const withHost = (host: string) =>
    `GET /api/version HTTP/1.1${CRLF}Host:${host}${CRLF}Connection: close${CRLF}${CRLF}`;
  const websocket = ["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13"];
  const cookie = `Cookie: ${fixture.cookie("owner")}`;
  const tls = [22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3, ...Array.from({ length: 500 }, (_, n) => n & 255)];
  const expect = tagJson("expect");
  const upgrade = (protocol: string, ...lines: string[]) =>
    head("GET /api/v1/changes", "Connection: Upgrade, HTTP2-Settings", `Upgrade: ${protocol}`, ...lines);
  return [
    raw("absolute form", head("GET http://localhost/api/version", closing)),
    raw("absolute form of another host", head("GET http://evil.example/api/version", closing)),
    raw("authority form", head("CONNECT evil.example:443", closing), expectRefusal),
    raw("authority form of GET", head("GET evil.example:443", closing), expectRefusal),
    raw("asterisk form", head("OPTIONS *", closing)),
    raw("asterisk form of GET", head("GET *", closing)),
    raw("HTTP/1.0", `GET /api/version HTTP/1.0${CRLF}${CRLF}`),
    raw("HTTP/1.0 with keep-alive", `GET /api/version HTTP/1.0${CRLF}Connection: keep-alive${CRLF}${CRLF}`),
    raw("HTTP/0.9", `GET /api/version${CRLF}`, expectRefusal),
    raw("HTTP/2.0", `GET /api/version HTTP/2.0${CRLF}${CRLF}`, expectRefusal),
    raw("HTTP/1.2", `GET /api/version HTTP/1.2${CRLF}Host: localhost${CRLF}${CRLF}`),
    raw("HTTP/9.9", `GET /api/version HTTP/9.9${CRLF}Host: localhost${CRLF}${CRLF}`, expectRefusal),
    raw("XTTP/1.1", `GET /api/version XTTP/1.1${CRLF}Host: localhost${CRLF}${CRLF}`, expectRefusal),
    raw("HTTP/2 by prior knowledge", `PRI * HTTP/2.0${CRLF}${CRLF}SM${CRLF}${CRLF}\0\0\0\x04\0\0\0\0\0`, expectRefusal),
    raw("TLS", Uint8Array.from(tls), expectRefusal),
    raw("SSH", `SSH-2.0-x${CRLF}`, expectRefusal),
    raw("two spaces", `GET  /api/version HTTP/1.1${CRLF}Host: localhost${CRLF}${CRLF}`),
    raw("a tab", `GET\t/api/version HTTP/1.1${CRLF}Host: localhost${CRLF}${CRLF}`, expectRefusal),
    raw("a space in the target", `GET /api/ver sion HTTP/1.1${CRLF}Host: localhost${CRLF}${CRLF}`),
    raw("no Host", `GET /api/version HTTP/1.1${CRLF}${CRLF}`, expectStatuses(400)),
    raw("two Hosts", head("GET /api/version", "Host: evil.example", closing), expectStatuses(400)),
    raw("a broken Host", withHost(" a b/c?d#e@f:99999"), expectStatuses(400)),
    raw("an empty Host", withHost(""), expectStatuses(400)),
    raw("NUL in the Host", withHost(" a\0b")),
    ...["FOO", "get", "M-SEARCH", "PROPFIND", "TRACE", "TRACK", "DEBUG", "PATCH", "PURGE", "G\u00cbT", "", "GET/"].map(
      (method) => raw(`method ${method}`, head(`${method} /api/version`, closing, "Content-Length: 0"), expectRefusal),
    ),
    ...["FOO", "TRACE", "PATCH", "PROPFIND"].map((method) =>
      raw(
        `method ${method} with credentials`,
        head(`${method} /api/v1/hosts`, cookie, closing, "Content-Length: 0"),
        expectRefusal,
      ),
    ),
    caseOf("websocket", upgrade("websocket", ...websocket), expectStatuses(401)),
    caseOf("websocket with credentials", upgrade("websocket", ...websocket, cookie), expectStatuses(200)),
    caseOf("h2c", upgrade("h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"), expectStatuses(401)),
    caseOf("an upgrade to an unknown protocol", upgrade("\u00e9"), expectStatuses(401)),
    caseOf(
      "Expect: 100-continue",
      tagPostHead(fixture, "writes-expecting", "Expect: 100-continue", `Content-Length: ${expect.length}`) + expect,
      expectStatuses(200),
    ),
    caseOf(
      "Expect: 100-continue on a refused request",
      head("POST /api/v1/tags", "Expect: 100-continue", "Content-Length: 1000000"),
      expectStatuses(401),
    ),
    raw("Expect: nonsense", head("GET /api/version", "Expect: nonsense", closing)),
    raw("line ends before the request", `${CRLF}${CRLF}${head("GET /api/version", closing)}`),
  ];
}

function pipelines(fixture: InputFixture): Case[] {
  const ids = Array.from({ length: PIPELINED }, (_, n) => `pipeline-${n}`);
  const inOrder: Check = ({ responses }) => {
    const received = responses.map(({ headers }) => header(headers, "x-request-id"));
    const wrong = received.findIndex((id, index) => id !== ids[index]);
    return received.length === ids.length && wrong < 0
      ? []
      : [`${received.length} responses, the first out of order is ${wrong}`];
  };
  // Bun closes a connection on a request that arrives while another response is being built: responses never mix.
  const inOrderOrClosed: Check = (result) =>
    result.end === "closed" || result.end === "reset"
      ? result.responses.every(({ headers }, index) => header(headers, "x-request-id") === ids[index])
        ? []
        : ["out of order"]
      : inOrder(result);
  const cookie = `Cookie: ${fixture.cookie("owner")}`;
  const gets = texts(`/api/version ¦ /api/v1/hosts?limit=5 ¦ /api/nowhere ¦ /api/v1/hosts?limit=nonsense ¦
  /api/v1/ledger`);
  const slow = ["/api/version", "/api/v1/tags/export/csv", "/api/v1/diff?from=-1d&to=now"];
  const pipelineOf = (targets: readonly string[]) =>
    ids.map((id, n) => head(`GET ${targets[n % targets.length]}`, cookie, `X-Request-Id: ${id}`)).join("");
  const requests = pipelineOf(gets);
  const tagPost = ["POST /api/v1/tags", cookie, "Content-Type: application/json"] as const;
  const posted = ids.map((id) => `${head(...tagPost, `X-Request-Id: ${id}`, "Content-Length: 2")}{}`).join("");
  const inPieces = `${head(...tagPost, "Content-Length: 20")}${" ".repeat(18)}{}${head("GET /api/version")}`;
  const expectTen: Check = ({ responses }) => (responses.length >= 10 ? [] : [`${responses.length} responses`]);
  return [
    caseOf("GETs", requests, inOrder, { until: PIPELINED }),
    caseOf("slow GETs", pipelineOf(slow), inOrderOrClosed, { until: PIPELINED }),
    caseOf("refused POSTs", posted, inOrder, { until: PIPELINED }),
    caseOf("GETs in single bytes", byteByByte(requests.slice(0, 3_000)), expectTen, { until: 10 }),
    caseOf("a GET after a POST whose body arrives in pieces", byteByByte(inPieces), expectStatuses(400, 200), {
      until: 2,
    }),
  ];
}

async function* byteByByte(text: string): AsyncGenerator<string> {
  for (const byte of text) yield byte;
}

/** Malformed bodies, which every operation with a body gets. */
function bodies(): [string, Buffer][] {
  const depth = 100_000;
  const text = (name: string, json: string): [string, Buffer] => [name, Buffer.from(json)];
  return [
    text("arrays 100,000 deep", "[".repeat(depth) + "]".repeat(depth)),
    text("objects 100,000 deep", `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`),
    text("unclosed arrays 100,000 deep", "[".repeat(depth)),
    text("a field 100,000 deep", `{"name":${"[".repeat(depth)}${"]".repeat(depth)}}`),
    text("only closing brackets", "]".repeat(depth)),
    text("1e400", '{"name":1e400,"number":-1e400,"position":1e400}'),
    text("10,000 digits", `{"name":${"9".repeat(10_000)},"number":${"9".repeat(10_000)}}`),
    text("10,000 decimals", `{"number":0.${"1".repeat(10_000)}}`),
    text("NUL", '{"name":"a\\u0000b","color":"\\u0000"}'),
    text("half characters", '{"name":"\\ud800","color":"\\udfff"}'),
    text("a hundred thousand keys", `{${Array.from({ length: 100_000 }, (_, n) => `"k${n}":1`).join(",")}}`),
    text("one key a hundred thousand times", `{${'"name":"x",'.repeat(100_000)}"name":1}`),
    text("__proto__", '{"__proto__":{"name":"x","number":1,"network_id":"x"},"constructor":{"prototype":{"a":1}}}'),
    text("a text of a million escapes", `{"name":"${"\\u0041".repeat(100_000)}"}`),
    ["invalid UTF-8", Buffer.from('{"name":"\xff\xfe\xc0\xaf\xed\xa0\x80"}', "latin1")],
    text("a bare NUL", '{"name":"a\0b"}'),
    ["UTF-16", Buffer.from('{"name":"x"}', "utf-16le")],
    text("nothing", ""),
  ];
}

/** Operation that accepts any object, even with odd keys or exact numbers: it stores the console's preferences. */
const ACCEPTS_ANY_OBJECT = "setPreferences";
const ACCEPTED_BODIES: readonly string[] = ["10,000 decimals", "__proto__"];

/** Sends the bodies to all operations; in the short form each operation gets a third, and so does each body. */
async function testBodies(fixture: InputFixture, document: OpenApiDocument, form: Form): Promise<Finding> {
  const wrong: string[] = [];
  const operations = document.operations.filter(
    ({ operation }) => operation.requestBody !== undefined && operation.operationId !== "changePassword",
  );
  const before = await fixture.head();
  let requests = 0;
  let slowestMs = 0;
  const malformed = bodies();
  for (const [position, operation] of operations.entries()) {
    for (const [name, body] of malformed.filter((_, index) => form === "long" || (index + position) % 3 === 0)) {
      if (operation.operation.operationId === ACCEPTS_ANY_OBJECT && ACCEPTED_BODIES.includes(name)) continue;
      const started = performance.now();
      const found = await sendBody(fixture, document, operation, livePath(fixture, operation), body);
      slowestMs = Math.max(slowestMs, performance.now() - started);
      requests += 1;
      if (found.length > 0) wrong.push(`${operation.method} ${operation.path} with ${name}: ${found.join("; ")}`);
    }
  }
  if ((await fixture.head()) !== before) wrong.push("something was written");
  return findingOf(
    "JSON of depth 100,000, with oversized numbers, invalid UTF-8 or NUL is refused by every operation with a body, in the envelope and promptly",
    wrong,
    `${requests} requests to ${operations.length} operations, the slowest took ${Math.round(slowestMs)} ms`,
    describeWrong(wrong),
  );
}

function describeWrong(wrong: readonly string[]): string {
  return `${wrong.length} wrong: ${wrong.slice(0, 8).join(" | ").slice(0, 3_000)}`;
}

async function sendBody(
  fixture: InputFixture,
  document: OpenApiDocument,
  { method }: DocumentedOperation,
  target: string,
  body: Buffer,
): Promise<string[]> {
  const headers = [`Cookie: ${fixture.cookie("owner")}`, "Content-Type: application/json"];
  const bytes = head(`${method} ${target}`, ...headers, `Content-Length: ${body.length}`);
  try {
    const response = await fixture.connection.request(method, Buffer.concat([Buffer.from(bytes), body]));
    const found = faults(document, { method, target, org: "first" }, response, NO_EFFECTS);
    return response.status >= 400 ? found : [...found, `returned ${response.status}`];
  } catch (error) {
    return [`no response: ${error instanceof Error ? error.message : error}`];
  }
}

/** Fills in live ids in the path of an operation. */
function livePath(fixture: InputFixture, { path }: DocumentedOperation): string {
  const plural = path.replace(/^\/api\/(v1\/)?/, "").replace(/\/\{.*$/, "");
  return fixture.resolve(
    path.replace("{id}", `@@own/${plural}/0@@`).replace("{sequence}", "@@sequence@@").replace("{name}", "none"),
    "owner",
  );
}

async function testPaths(fixture: InputFixture, document: OpenApiDocument): Promise<Finding> {
  const wrong: string[] = [];
  const operations = Map.groupBy(document.operations, ({ path }) => path);
  const targets = [...operations.keys()].filter((path) => !path.endsWith("/events"));
  let requests = 0;
  for (const path of targets) {
    const target = livePath(fixture, { path } as DocumentedOperation);
    const methods = (operations.get(path) ?? []).map(({ method }) => method);
    const cookie = `Cookie: ${fixture.cookie("owner")}`;
    const send = (method: string) =>
      fixture.connection.request(method, Buffer.from(head(`${method} ${target}`, cookie)));
    const [get, headResponse, options] = [await send("GET"), await send("HEAD"), await send("OPTIONS")];
    requests += 3;
    if (headResponse.status !== get.status)
      wrong.push(`HEAD ${path} returned ${headResponse.status}, GET ${get.status}`);
    const [headType, getType] = [headResponse, get].map(({ headers }) => header(headers, "content-type"));
    if (methods.includes("GET") && headType !== getType) wrong.push(`HEAD ${path} is ${headType}, GET ${getType}`);
    const allow = (header(options.headers, "allow") ?? "").split(", ");
    if (options.status !== 405 || !methods.every((method) => allow.includes(method)))
      wrong.push(`OPTIONS ${path} returned ${options.status}, Allow: ${allow.join(", ")}`);
    for (const [method, response] of [
      ["HEAD", headResponse],
      ["OPTIONS", options],
    ] as const) {
      const found = faults(document, { method, target, org: "first" }, response, NO_EFFECTS);
      if (found.length > 0) wrong.push(`${method} ${path}: ${found.join("; ")}`);
    }
  }
  return findingOf(
    "HEAD responds like GET, without a body; OPTIONS is refused with the allowed methods",
    wrong,
    `${requests} requests to ${targets.length} paths`,
    describeWrong(wrong),
  );
}

function header(headers: WireResponse["headers"], name: string): string | undefined {
  return headers.find(([field]) => field === name)?.[1];
}
