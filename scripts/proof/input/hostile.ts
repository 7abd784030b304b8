// Hand-written malicious requests: tables of bytes and expected results, one claim per table.

import type { DocumentedOperation, OpenApiDocument } from "../../../test/support/contract/openapi.ts";
import type { Finding, Form } from "../part.ts";
import { faults } from "./judge.ts";
import { type Exchange, type ExchangeOptions, exchange, type WireAnswer } from "./wire.ts";
import type { InputWorld } from "./world.ts";

/** Problems of an exchange; empty if there are none. */
type Look = (seen: Exchange) => string[];

interface Try {
  readonly name: string;
  readonly bytes: string | Uint8Array | AsyncIterable<string | Uint8Array>;
  readonly options?: ExchangeOptions;
  readonly look?: Look;
}

const AT_A_TIME = 6;
/** Below the limit of concurrent requests. */
const PIPELINED = 80;
const CRLF = "\r\n";
/** Marks a smuggled request: no answer may contain it. */
const HIDDEN_ID = "hidden-in-another";

export async function hostileFindings(world: InputWorld, document: OpenApiDocument, form: Form): Promise<Finding[]> {
  const findings: Finding[] = [];
  const table = async (claim: string, tries: readonly Try[], atATime = AT_A_TIME) =>
    findings.push(await held(world, claim, tries, atATime));
  await table("Oversized, endless and malformed heads are refused, and other clients are served", heads());
  await table("No line break of a request reaches the head of an answer", injections());
  await table("Cookies of any form are read or ignored, and never crash a request", cookies());
  await table(
    "Chunked bodies are read whole or not at all, whatever their sizes, extensions and trailers",
    chunks(world),
  );
  await table(
    "No request can be smuggled in another's body: ambiguous lengths are refused, and their connection closed",
    smuggled(world),
  );
  await table("A body shorter than its length writes nothing; an endless one is cut off at its limit", lengths(world));
  await table("Without credentials no spelling of a path reaches a protected operation or a file", paths());
  await table(
    "Odd targets, versions, methods and protocols are answered or refused, without switching protocols",
    protocols(world),
  );
  await table(
    "Pipelined requests are answered one by one in order; if one has to wait, the connection may end instead",
    pipelines(world),
    1,
  );
  findings.push(await everyBody(world, document, form));
  findings.push(await everyPath(world, document));
  return findings;
}

async function held(world: InputWorld, claim: string, tries: readonly Try[], atATime: number): Promise<Finding> {
  const wrong: string[] = [];
  const before = await world.head();
  const statuses = new Map<string, number>();
  const one = async (each: Try): Promise<void> => {
    const pieces = typeof each.bytes === "string" || each.bytes instanceof Uint8Array ? [each.bytes] : each.bytes;
    const seen = await exchange(world.port, pieces, each.options);
    const found = [...always(seen), ...(each.look?.(seen) ?? [])];
    if (found.length > 0) wrong.push(`${each.name}: ${found.join("; ")}`);
    const outcome = (seen.answers.map(({ status }) => status).join("+") || seen.end).slice(0, 40);
    statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1);
    if ((await world.appliance.client().get("/api/health")).status !== 200)
      wrong.push(`${each.name}: other clients are no longer served`);
  };
  // A few at a time: each must wait for silence.
  for (let at = 0; at < tries.length; at += atATime) await Promise.all(tries.slice(at, at + atATime).map(one));
  // The tries that write are marked as such.
  const written = (await world.transactionsSince("first", before)).filter(
    ({ request_id }) => request_id === null || !request_id.startsWith("writes-"),
  );
  if (written.length > 0)
    wrong.push(`something was written by ${written.map(({ request_id }) => request_id).join(", ")}`);
  return {
    claim,
    held: wrong.length === 0,
    figure:
      wrong.length === 0
        ? `${tries.length} tried: ${[...statuses].map(([outcome, count]) => `${count} × ${outcome}`).join(", ")}`
        : wrong.join(" | ").slice(0, 3_000),
  };
}

/** For any request. */
function always({ text, answers }: Exchange): string[] {
  // The HTTP parser answers 505 to an invalid request line; the appliance itself never does.
  const isParsers = ({ status, headers }: WireAnswer) =>
    status === 505 && header(headers, "x-request-id") === undefined;
  const found = answers
    .filter((answer) => (answer.status >= 500 && !isParsers(answer)) || answer.status < 200)
    .map(({ status }) => `answered ${status}`);
  if (/^HTTP\/1\.1 101/m.test(text)) found.push("switched protocols");
  if (/^x-evil/im.test(text)) found.push("an injected header is in the answer");
  if (text.includes(HIDDEN_ID)) found.push("a smuggled request was answered");
  if (/root:.*:0:0:/.test(text)) found.push("a file of the machine is in the answer");
  return found;
}

const refused: Look = ({ answers, end }) =>
  answers.some(({ status }) => status < 400)
    ? [`answered ${answers.map(({ status }) => status).join(", ")}`]
    : answers.length === 0 && end === "open"
      ? ["neither answered nor closed"]
      : [];
const answered =
  (...statuses: number[]): Look =>
  ({ answers, end }) =>
    answers.length === statuses.length && answers.every(({ status }, at) => status === statuses[at])
      ? []
      : [`${statuses.join(", ")} expected, ${answers.map(({ status }) => status).join(", ") || end} came`];
/** At most one answer of any kind, or a closed connection. */
const atMostOne: Look = ({ answers, end }) =>
  answers.length > 1
    ? [`${answers.length} answers`]
    : answers.length === 0 && end === "open"
      ? ["neither answered nor closed"]
      : [];

function head(first: string, ...lines: string[]): string {
  return [`${first} HTTP/1.1`, "Host: 127.0.0.1", ...lines, "", ""].join(CRLF);
}

function heads(): Try[] {
  const one = { until: 1 };
  const filler = (count: number, length: number) =>
    Array.from({ length: count }, (_, n) => `X-${n}: ${"x".repeat(length)}`);
  return [
    { name: "90 headers", bytes: head("GET /api/version", ...filler(90, 20)), options: one, look: answered(200) },
    {
      name: "a header of 8 kB",
      bytes: head("GET /api/version", ...filler(1, 8_000)),
      options: one,
      look: answered(200),
    },
    { name: "a header of 300 kB", bytes: head("GET /api/version", ...filler(1, 300_000)), options: one, look: refused },
    { name: "10,000 headers", bytes: head("GET /api/version", ...filler(10_000, 20)), options: one, look: refused },
    { name: "a target of 300 kB", bytes: head(`GET /api/version?${"x".repeat(300_000)}`), options: one, look: refused },
    { name: "a method of 300 kB", bytes: head(`${"X".repeat(300_000)} /api/version`), options: one, look: refused },
    {
      name: "a name of 300 kB",
      bytes: head("GET /api/version", `${"x".repeat(300_000)}: 1`),
      options: one,
      look: refused,
    },
    {
      name: "a head that never ends",
      bytes: forEver(head("GET /api/version").slice(0, -2), `X-A: ${"x".repeat(1_000)}${CRLF}`, 20_000),
      look: refused,
    },
    { name: "a line that never ends", bytes: forEver("GET /", "x".repeat(1_000), 20_000), look: refused },
    { name: "a header without a colon", bytes: head("GET /api/version", "nonsense"), options: one, look: refused },
    { name: "a header without a name", bytes: head("GET /api/version", ": 1"), options: one, look: refused },
    { name: "a blank in a name", bytes: head("GET /api/version", "X Y: 1"), options: one, look: refused },
    { name: "a blank before the colon", bytes: head("GET /api/version", "X-Y : 1"), options: one, look: refused },
    { name: "NUL in a name", bytes: head("GET /api/version", "X\0Y: 1"), options: one, look: refused },
    { name: "nothing but line ends", bytes: CRLF.repeat(1_000), options: { halfClose: true }, look: atMostOne },
    {
      name: "noise",
      bytes: Uint8Array.from({ length: 50_000 }, (_, n) => (n * 7919) % 251),
      options: { halfClose: true },
      look: refused,
    },
  ];
}

async function* forEver(start: string, piece: string, count: number): AsyncGenerator<string> {
  yield start;
  for (let n = 0; n < count; n += 1) yield piece;
}

function injections(): Try[] {
  const values = [
    "a\rX-Evil: 1",
    "a\nX-Evil: 1",
    "a\r\n X-Evil: 1",
    "a\r\n\tX-Evil: 1",
    "a\0X-Evil: 1",
    "a\x0bX-Evil: 1",
    "a%0d%0aX-Evil: 1",
    "a\u0085X-Evil: 1",
    "å\u00ffX-Evil: 1",
    `${"a".repeat(200)}X-Evil: 1`,
    '"\\r\\nX-Evil: 1"',
  ];
  const names = ["X-Request-Id", "If-None-Match", "Origin", "Idempotency-Key", "Cookie", "Accept", "Host"];
  const echoed = [
    "/api/%0d%0aX-Evil:%201",
    "/api/v1/hosts/%0d%0aX-Evil:%201",
    "/api/v1/backups/a%0d%0aX-Evil:%201",
    "/api/version?%0d%0aX-Evil:%201=%0d%0aX-Evil:%201",
    "/docs/%0d%0aX-Evil:%201",
    "/%0d%0aX-Evil:%201",
    "/api/v1/hosts/export/csv?search=%0d%0aX-Evil:%201",
    "/api/v1/hosts\rX-Evil:1",
    "/api\nX-Evil:1",
  ];
  const insane: Look = ({ answers }) =>
    answers
      .filter(({ headers }) => /evil|[^\x20-\x7e]/i.test(header(headers, "x-request-id") ?? ""))
      .map(() => "an insane X-Request-Id is in the answer");
  return [
    ...names.flatMap((name) =>
      values.map(
        (value, n): Try => ({
          name: `${name} ${n}`,
          bytes: head("GET /api/version", `${name}: ${value}`, "Connection: close"),
          look: insane,
        }),
      ),
    ),
    ...echoed.map(
      (target): Try => ({ name: JSON.stringify(target), bytes: head(`GET ${target}`, "Connection: close") }),
    ),
  ];
}

function cookies(): Try[] {
  const odd = [
    "",
    ";",
    ";;;;",
    "=",
    "=;=",
    "session_id",
    "session_id=",
    "session_id==",
    'session_id="a"',
    "session_id=a; session_id=b",
    "SESSION_ID=a",
    "session_id=\u00e9",
    "session_id=a\tb",
    "session_id=%00",
    "session_id=%zz",
    `session_id=${"a".repeat(7_000)}`,
    "__proto__=a",
    "constructor=a; toString=b",
    Array.from({ length: 1_000 }, (_, n) => `c${n}=1`).join(";"),
    "session_id=j:{}",
    "session_id=[object Object]",
    "a=b;session_id",
    "$Version=1; session_id=a",
  ];
  return odd.flatMap((cookie) => [
    {
      name: `me with ${cookie.slice(0, 40)}`,
      bytes: head("GET /api/auth/me", `Cookie: ${cookie}`),
      options: { until: 1 },
      look: answered(401),
    },
    // The operations that set cookies read them differently.
    {
      name: `logout with ${cookie.slice(0, 40)}`,
      bytes: head("POST /api/auth/logout", `Cookie: ${cookie}`, "Content-Length: 0"),
      options: { until: 1 },
      look: ({ answers }) =>
        answers.length === 1 && [200, 401].includes(answers[0]?.status ?? 0) ? [] : [`answered ${answers[0]?.status}`],
    },
  ]);
}

/** Head of a POST of a tag by the first organization's Owner. */
function posting(world: InputWorld, id: string, ...lines: string[]): string {
  return head(
    "POST /api/v1/tags",
    `Cookie: ${world.cookie("owner")}`,
    "Content-Type: application/json",
    `X-Request-Id: ${id}`,
    ...lines,
  );
}

function tagJson(name: string): string {
  return JSON.stringify({ name: `wire ${name}`, color: "Green" });
}

function chunks(world: InputWorld): Try[] {
  const start = (id: string, ...lines: string[]) => posting(world, id, "Transfer-Encoding: chunked", ...lines);
  const chunk = (text: string, size = text.length.toString(16)) => `${size}${CRLF}${text}${CRLF}`;
  const end = `0${CRLF}${CRLF}`;
  const good = (name: string, body: string, ...lines: string[]): Try => ({
    name,
    bytes: start(`writes-${name.replaceAll(" ", "-")}`, ...lines) + body,
    options: { until: 1 },
    look: answered(200),
  });
  const whole = (name: string, body: string): Try => ({
    name,
    bytes: start(`writes-${name.replaceAll(" ", "-")}`) + body,
    options: { until: 1 },
    look: atMostOne,
  });
  const bad = (name: string, body: string, options: ExchangeOptions = { until: 1 }): Try => ({
    name,
    bytes: start("refused") + body,
    options,
    look: refused,
  });
  const json = tagJson("bad");
  return [
    good("one chunk", chunk(tagJson("one chunk")) + end),
    good("a byte a chunk", [...tagJson("a byte a chunk")].map((byte) => chunk(byte)).join("") + end),
    good("upper case sizes", chunk(tagJson("u").padEnd(0xab, " "), "AB") + end),
    good("leading zeros", chunk(tagJson("zeros"), `0000${tagJson("zeros").length.toString(16)}`) + end),
    whole("an extension", chunk(tagJson("extension"), `${tagJson("extension").length.toString(16)};a=b`) + end),
    whole(
      "a long extension",
      chunk(tagJson("long extension"), `${tagJson("long extension").length.toString(16)};${"a".repeat(50_000)}`) + end,
    ),
    whole("a trailer", `${chunk(tagJson("trailer"))}0${CRLF}X-Evil: 1${CRLF}${CRLF}`),
    whole("a trailer that frames", `${chunk(tagJson("framing trailer"))}0${CRLF}Content-Length: 5${CRLF}${CRLF}`),
    bad("no hexadecimal size", chunk(json, "zz") + end),
    bad("a negative size", chunk(json, "-5") + end),
    bad("a size with 0x", chunk(json, `0x${json.length.toString(16)}`) + end),
    bad("a size with a plus", chunk(json, `+${json.length.toString(16)}`) + end),
    bad("an empty size", `${CRLF}${json}${CRLF}${end}`),
    bad("a size beyond all numbers", chunk(json, "FFFFFFFFFFFFFFFFFFFFFFFF") + end),
    bad("a size of 2^64", chunk(json, "10000000000000000") + end, { until: 1, halfClose: true }),
    bad("a size of 2^63", chunk(json, "8000000000000000") + end, { until: 1, halfClose: true }),
    bad("a size that is too large", chunk(json, "ffffff") + end, { until: 1, halfClose: true }),
    bad("a size that is too small", chunk(json, "2") + end),
    bad("no line end after the data", `${json.length.toString(16)}${CRLF}${json}${end}`),
    bad("cut off within a chunk", `ff${CRLF}${json}`, { until: 1, halfClose: true }),
    bad("cut off between chunks", chunk(json), { until: 1, halfClose: true }),
    bad("cut off within the size", "f", { until: 1, halfClose: true }),
    {
      name: "two JSON texts",
      bytes: start("refused") + chunk(json) + chunk(json) + end,
      options: { until: 1 },
      look: answered(400),
    },
    {
      name: "endless chunks",
      bytes: forEver(start("refused"), chunk(" ".repeat(65_536)), 2_000),
      options: { until: 1 },
      look: answered(413),
    },
    {
      name: "endless empty extensions",
      bytes: forEver(`${start("refused")}1`, ";a", 500_000),
      options: { until: 1 },
      look: refused,
    },
    {
      name: "endless trailers",
      bytes: forEver(`${start("refused")}${chunk("1")}0${CRLF}`, `X-A: ${"x".repeat(1_000)}${CRLF}`, 20_000),
      options: { until: 1 },
      look: refused,
    },
  ];
}

function smuggled(world: InputWorld): Try[] {
  const hidden = head("GET /api/version", `X-Request-Id: ${HIDDEN_ID}`);
  const json = tagJson("smuggled");
  const chunked = `${json.length.toString(16)}${CRLF}${json}${CRLF}0${CRLF}${CRLF}`;
  const one = (name: string, bytes: string, methods?: readonly string[]): Try => ({
    name,
    bytes,
    options: { silenceMs: 1_500, until: 2, ...(methods === undefined ? {} : { methods }) },
    look: atMostOne,
  });
  const of = (name: string, lines: readonly string[], body: string): Try =>
    one(name, posting(world, "writes-ambiguous", ...lines) + body);
  const carried = (name: string, line: string, ...lines: string[]): Try =>
    one(`${name} with a request as its body`, head(line, ...lines, `Content-Length: ${hidden.length}`) + hidden);
  const both = chunked + hidden;
  return [
    of("length and chunks", [`Content-Length: ${both.length}`, "Transfer-Encoding: chunked"], both),
    of("chunks and length", ["Transfer-Encoding: chunked", `Content-Length: ${both.length}`], both),
    of("length 0 and chunks", ["Content-Length: 0", "Transfer-Encoding: chunked"], both),
    ...[
      "chunked, identity",
      "identity, chunked",
      "xchunked",
      "chunked, chunked",
      "gzip, chunked",
      "\x0bchunked",
      "chunked\x0b",
      '"chunked"',
      "chunked;q=1",
      "",
      "identity",
    ].map((coding) =>
      of(
        `Transfer-Encoding: ${JSON.stringify(coding)} and length`,
        [`Transfer-Encoding: ${coding}`, `Content-Length: ${both.length}`],
        both,
      ),
    ),
    of("a blank before the colon", ["Transfer-Encoding : chunked", `Content-Length: ${both.length}`], both),
    of("a blank before the name", ["X: 1", " Transfer-Encoding: chunked", `Content-Length: ${both.length}`], both),
    of("a tab after the colon", ["Transfer-Encoding:\tchunked", `Content-Length: ${both.length}`], both),
    of("another case", ["tRANSFER-eNCODING: cHUNKED", `Content-Length: ${both.length}`], both),
    of(
      "two Transfer-Encodings",
      ["Transfer-Encoding: chunked", "Transfer-Encoding: identity", `Content-Length: ${both.length}`],
      both,
    ),
    of(
      "two lengths, the small one first",
      ["Content-Length: 2", `Content-Length: ${2 + hidden.length}`],
      `{}${hidden}`,
    ),
    of(
      "two lengths, the large one first",
      [`Content-Length: ${2 + hidden.length}`, "Content-Length: 2"],
      `{}${hidden}`,
    ),
    ...[
      "2, 2",
      "2 2",
      "+2",
      "0x2",
      "2.0",
      "2e0",
      "-1",
      "-0",
      "02\x0b",
      "2;",
      "٢",
      "2,0",
      "99999999999999999999",
      "18446744073709551618",
      "4294967298",
    ].map((length) => of(`Content-Length: ${length}`, [`Content-Length: ${length}`], `{}${hidden}`)),
    one(
      "line feeds alone",
      `POST /api/v1/tags HTTP/1.1\nHost: localhost\nContent-Length: 0\nTransfer-Encoding: chunked\n\n${hidden}`,
    ),
    carried("a GET", "GET /api/version"),
    carried("a refused POST", "POST /api/v1/tags", "Content-Type: application/json"),
    carried("an unknown path", "POST /api/nowhere"),
    carried("an unsupported type", "POST /api/v1/tags", `Cookie: ${world.cookie("owner")}`, "Content-Type: text/plain"),
    one("HEAD with a request as its body", head("HEAD /api/version", `Content-Length: ${hidden.length}`) + hidden, [
      "HEAD",
    ]),
    carried("OPTIONS", "OPTIONS /api/version"),
  ];
}

function lengths(world: InputWorld): Try[] {
  const json = tagJson("short");
  return [
    {
      name: "ten bytes of a thousand, then the end",
      bytes: posting(world, "refused", "Content-Length: 1000") + json.slice(0, 10),
      options: { halfClose: true },
      look: refused,
    },
    {
      name: "a whole value, but not the whole length",
      bytes: posting(world, "refused", "Content-Length: 1000") + json,
      options: { halfClose: true },
      look: refused,
    },
    {
      name: "no body at all of a thousand bytes",
      bytes: posting(world, "refused", "Content-Length: 1000"),
      options: { halfClose: true },
      look: refused,
    },
    { name: "neither length nor chunks", bytes: posting(world, "refused"), options: { until: 1 }, look: refused },
    {
      name: "a length beyond the limit",
      bytes: posting(world, "refused", `Content-Length: ${9 * 1024 * 1024}`),
      options: { until: 1 },
      look: answered(413),
    },
    {
      name: "a length of 4 GB",
      bytes: posting(world, "refused", "Content-Length: 4294967296"),
      options: { until: 1 },
      look: refused,
    },
    {
      name: "a body beyond its limit",
      bytes: forEver(posting(world, "refused", `Content-Length: ${20 * 1024 * 1024}`), " ".repeat(65_536), 320),
      options: { until: 1 },
      look: answered(413),
    },
    {
      name: "a compressed body",
      bytes: `${posting(world, "refused", "Content-Encoding: gzip", "Content-Length: 4")}\x1f\x8b\x08\x00`,
      options: { until: 1 },
      look: answered(415),
    },
    {
      name: "a length that is too small",
      bytes: `${posting(world, "refused", "Content-Length: 5")}${json}${CRLF}${CRLF}`,
      options: { silenceMs: 2_000, until: 2 },
      look: refused,
    },
  ];
}

function paths(): Try[] {
  const secret = ["/api/v1/hosts", "/api/v1/organizations", "/api/auth/me"];
  const spellings = secret.flatMap((path) => [
    path,
    `/${path}`,
    `//${path}`,
    `${path}/`,
    `${path}//`,
    `${path}/.`,
    `/.${path}`,
    `/..${path}`,
    `/docs/..${path}`,
    `/docs/%2e%2e${path}`,
    `/docs/..%2f${path.slice(1)}`,
    `/api/health/..${path.slice(4)}`,
    `/api/health/%2e%2e${path.slice(4)}`,
    `/api/auth/setup/../../..${path}`,
    path.replace("/api", "/%61pi"),
    path.replace("/api", "/API"),
    path.replaceAll("/", "%2f"),
    path.replaceAll("/", "\\"),
    path.replaceAll("/", "/./"),
    `${path};/api/health`,
    `${path}%00/api/health`,
    `${path}%2f..%2fhealth`,
    `${path}?/api/health`,
    `${path}#/api/health`,
    `/api/health#${path}`,
    `${path}%20`,
    `${path}%09`,
    `${path}\t`,
    `${path}.json`,
    `${path}%3f`,
    `http://localhost${path}`,
    `HTTP://localhost${path}`,
    `http://user:secret@localhost${path}`,
    `//localhost${path}`,
    `?${path}`,
    `*${path}`,
    path.slice(1),
  ]);
  const files = [
    "/../../../../etc/passwd",
    "/..%2f..%2f..%2fetc%2fpasswd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/docs/../../../etc/passwd",
    "/docs/..%2f..%2f..%2f..%2fetc/passwd",
    "/docs/%2fetc%2fpasswd",
    "/docs//etc/passwd",
    "//etc/passwd",
    "/file:///etc/passwd",
    "/etc/passwd%00.js",
    "/docs/scalar.js/../../../../etc/passwd",
    "/\\..\\..\\etc\\passwd",
    "/$bunfs/root/netledger",
    "/docs/$bunfs/root",
    "/proc/self/environ",
    "/.git/config",
    "/data/netledger.db",
  ];
  const long = [
    `/${"a".repeat(9_000)}`,
    `/api/v1/hosts/${"a".repeat(9_000)}`,
    `/api/v1/hosts${"/a".repeat(4_000)}`,
    `/api/v1/hosts/${"%20".repeat(3_000)}`,
    "/api/%ff%fe",
    "/api/\xff\xfe",
    "/api/%",
    "/api/%zz",
    "/api/%00",
    "/api/v1/hosts/%C0%AE%C0%AE",
  ];
  return [...spellings, ...files, ...long].map(
    (target): Try => ({
      name: target.slice(0, 80),
      bytes: head(`GET ${target}`, "Connection: close"),
      look: ({ answers }) =>
        answers
          .filter((answer) => isGivenAway(answer))
          .map((answer) => `answered 200 with ${answer.body.toString("latin1").slice(0, 80)}`),
    }),
  );
}

/** Public data: the documentation, health, version and setup state. Any other success is a leak. */
function isGivenAway({ status, body, headers }: WireAnswer): boolean {
  if (status !== 200) return false;
  const text = body.toString("latin1");
  if (!(header(headers, "content-type") ?? "").startsWith("application/json"))
    return (
      !/^<!doctype html/i.test(text.trimStart()) && !(header(headers, "content-type") ?? "").includes("javascript")
    );
  return (
    !text.startsWith('{"openapi"') &&
    !/^\{"success":true,"data":\{"(status|version|setup_needed|needed|is_needed)"/.test(text)
  );
}

function protocols(world: InputWorld): Try[] {
  const one = { until: 1 };
  const closing = "Connection: close";
  const raw = (
    name: string,
    bytes: string | Uint8Array,
    look: Look = atMostOne,
    options: ExchangeOptions = { ...one, halfClose: true },
  ): Try => ({ name, bytes, options, look });
  const upgrade = (protocol: string, ...lines: string[]) =>
    head("GET /api/v1/changes", "Connection: Upgrade, HTTP2-Settings", `Upgrade: ${protocol}`, ...lines);
  return [
    raw("absolute form", head("GET http://localhost/api/version", closing)),
    raw("absolute form of another host", head("GET http://evil.example/api/version", closing)),
    raw("authority form", head("CONNECT evil.example:443", closing), refused),
    raw("authority form of GET", head("GET evil.example:443", closing), refused),
    raw("asterisk form", head("OPTIONS *", closing)),
    raw("asterisk form of GET", head("GET *", closing)),
    raw("HTTP/1.0", `GET /api/version HTTP/1.0${CRLF}${CRLF}`),
    raw("HTTP/1.0 that stays", `GET /api/version HTTP/1.0${CRLF}Connection: keep-alive${CRLF}${CRLF}`),
    raw("HTTP/0.9", `GET /api/version${CRLF}`, refused),
    raw("HTTP/2.0", `GET /api/version HTTP/2.0${CRLF}${CRLF}`, refused),
    raw("HTTP/1.2", `GET /api/version HTTP/1.2${CRLF}Host: localhost${CRLF}${CRLF}`),
    raw("HTTP/9.9", `GET /api/version HTTP/9.9${CRLF}Host: localhost${CRLF}${CRLF}`, refused),
    raw("XTTP/1.1", `GET /api/version XTTP/1.1${CRLF}Host: localhost${CRLF}${CRLF}`, refused),
    raw("HTTP/2 by prior knowledge", `PRI * HTTP/2.0${CRLF}${CRLF}SM${CRLF}${CRLF}\0\0\0\x04\0\0\0\0\0`, refused),
    raw(
      "TLS",
      Uint8Array.from([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3, ...Array.from({ length: 500 }, (_, n) => n & 255)]),
      refused,
    ),
    raw("SSH", `SSH-2.0-x${CRLF}`, refused),
    raw("two blanks", `GET  /api/version HTTP/1.1${CRLF}Host: localhost${CRLF}${CRLF}`),
    raw("a tab", `GET\t/api/version HTTP/1.1${CRLF}Host: localhost${CRLF}${CRLF}`, refused),
    raw("a blank in the target", `GET /api/ver sion HTTP/1.1${CRLF}Host: localhost${CRLF}${CRLF}`),
    raw("no Host", `GET /api/version HTTP/1.1${CRLF}${CRLF}`, answered(400)),
    raw("two Hosts", head("GET /api/version", "Host: evil.example", closing), answered(400)),
    raw(
      "a broken Host",
      `GET /api/version HTTP/1.1${CRLF}Host: a b/c?d#e@f:99999${CRLF}Connection: close${CRLF}${CRLF}`,
      answered(400),
    ),
    raw("an empty Host", `GET /api/version HTTP/1.1${CRLF}Host:${CRLF}Connection: close${CRLF}${CRLF}`, answered(400)),
    raw("NUL in the Host", `GET /api/version HTTP/1.1${CRLF}Host: a\0b${CRLF}Connection: close${CRLF}${CRLF}`),
    ...["FOO", "get", "M-SEARCH", "PROPFIND", "TRACE", "TRACK", "DEBUG", "PATCH", "PURGE", "G\u00cbT", "", "GET/"].map(
      (method) => raw(`method ${method}`, head(`${method} /api/version`, closing, "Content-Length: 0"), refused),
    ),
    ...["FOO", "TRACE", "PATCH", "PROPFIND"].map((method) =>
      raw(
        `method ${method} with credentials`,
        head(`${method} /api/v1/hosts`, `Cookie: ${world.cookie("owner")}`, closing, "Content-Length: 0"),
        refused,
      ),
    ),
    raw(
      "websocket",
      upgrade("websocket", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13"),
      answered(401),
      one,
    ),
    raw(
      "websocket with credentials",
      upgrade(
        "websocket",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version: 13",
        `Cookie: ${world.cookie("owner")}`,
      ),
      answered(200),
      one,
    ),
    raw("h2c", upgrade("h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"), answered(401), one),
    raw("an upgrade to nothing", upgrade("\u00e9"), answered(401), one),
    raw(
      "Expect: 100-continue",
      posting(world, "writes-expecting", "Expect: 100-continue", `Content-Length: ${tagJson("expect").length}`) +
        tagJson("expect"),
      answered(200),
      one,
    ),
    raw(
      "Expect: 100-continue of what is refused",
      head("POST /api/v1/tags", "Expect: 100-continue", "Content-Length: 1000000"),
      answered(401),
      one,
    ),
    raw("Expect: nonsense", head("GET /api/version", "Expect: nonsense", closing)),
    raw("line ends before the request", `${CRLF}${CRLF}${head("GET /api/version", closing)}`),
  ];
}

function pipelines(world: InputWorld): Try[] {
  const ids = Array.from({ length: PIPELINED }, (_, n) => `pipeline-${n}`);
  const inOrder: Look = ({ answers }) => {
    const came = answers.map(({ headers }) => header(headers, "x-request-id"));
    return came.length === ids.length && came.every((id, at) => id === ids[at])
      ? []
      : [`${came.length} answers, the first out of order is ${came.findIndex((id, at) => id !== ids[at])}`];
  };
  // Bun closes a connection on a request that arrives while another answer is being built: no answers are mixed up.
  const inOrderOrClosed: Look = (seen) =>
    seen.end === "closed" || seen.end === "reset"
      ? seen.answers.every(({ headers }, at) => header(headers, "x-request-id") === ids[at])
        ? []
        : ["out of order"]
      : inOrder(seen);
  const cookie = `Cookie: ${world.cookie("owner")}`;
  const gets = [
    "/api/version",
    "/api/v1/hosts?limit=5",
    "/api/nowhere",
    "/api/v1/hosts?limit=nonsense",
    "/api/v1/ledger",
  ];
  const slow = ["/api/version", "/api/v1/tags/export/csv", "/api/v1/diff?from=-1d&to=now"];
  const bytesOf = (targets: readonly string[]) =>
    ids.map((id, n) => head(`GET ${targets[n % targets.length]}`, cookie, `X-Request-Id: ${id}`)).join("");
  const asked = bytesOf(gets);
  const posted = ids
    .map(
      (id) =>
        `${head(
          "POST /api/v1/tags",
          cookie,
          "Content-Type: application/json",
          `X-Request-Id: ${id}`,
          "Content-Length: 2",
        )}{}`,
    )
    .join("");
  return [
    { name: "GETs", bytes: asked, options: { until: PIPELINED }, look: inOrder },
    { name: "GETs that take their time", bytes: bytesOf(slow), options: { until: PIPELINED }, look: inOrderOrClosed },
    { name: "POSTs that are refused", bytes: posted, options: { until: PIPELINED }, look: inOrder },
    {
      name: "GETs in single bytes",
      bytes: inSingleBytes(asked.slice(0, 3_000)),
      options: { until: 10 },
      look: ({ answers }) => (answers.length >= 10 ? [] : [`${answers.length} answers`]),
    },
    {
      name: "a GET behind a POST whose body comes in pieces",
      bytes: inSingleBytes(
        head("POST /api/v1/tags", cookie, "Content-Type: application/json", "Content-Length: 20") +
          " ".repeat(18) +
          "{}" +
          head("GET /api/version"),
      ),
      options: { until: 2 },
      look: answered(400, 200),
    },
  ];
}

async function* inSingleBytes(text: string): AsyncGenerator<string> {
  for (const byte of text) yield byte;
}

/** Bytes sent to every operation with a body. */
function bodies(): [string, Buffer][] {
  const deep = 100_000;
  const text = (name: string, json: string): [string, Buffer] => [name, Buffer.from(json)];
  return [
    text("arrays 100,000 deep", "[".repeat(deep) + "]".repeat(deep)),
    text("objects 100,000 deep", `${'{"a":'.repeat(deep)}1${"}".repeat(deep)}`),
    text("arrays 100,000 deep that do not end", "[".repeat(deep)),
    text("a field 100,000 deep", `{"name":${"[".repeat(deep)}${"]".repeat(deep)}}`),
    text("brackets that only close", "]".repeat(deep)),
    text("1e400", '{"name":1e400,"number":-1e400,"position":1e400}'),
    text("10,000 digits", `{"name":${"9".repeat(10_000)},"number":${"9".repeat(10_000)}}`),
    text("10,000 decimals", `{"number":0.${"1".repeat(10_000)}}`),
    text("NUL", '{"name":"a\\u0000b","color":"\\u0000"}'),
    text("half characters", '{"name":"\\ud800","color":"\\udfff"}'),
    text("a hundred thousand keys", `{${Array.from({ length: 100_000 }, (_, n) => `"k${n}":1`).join(",")}}`),
    text("one key a hundred thousand times", `{${'"name":"x",'.repeat(100_000)}"name":1}`),
    text("__proto__", '{"__proto__":{"name":"x","number":1,"network_id":"x"},"constructor":{"prototype":{"a":1}}}'),
    text("a text of a million escapes", `{"name":"${"\\u0041".repeat(100_000)}"}`),
    [
      "invalid UTF-8",
      Buffer.concat([
        Buffer.from('{"name":"'),
        Buffer.from([0xff, 0xfe, 0xc0, 0xaf, 0xed, 0xa0, 0x80]),
        Buffer.from('"}'),
      ]),
    ],
    ["a bare NUL", Buffer.from('{"name":"a\0b"}')],
    ["UTF-16", Buffer.from('{"name":"x"}', "utf-16le")],
    text("nothing", ""),
  ];
}

/** The console's notes are arbitrary: an object with any key, or an exact number, is valid. */
const TAKES_ANY_OBJECT = "setPreferences";
const PLAIN_OBJECTS: readonly string[] = ["10,000 decimals", "__proto__"];

/** In the short form every operation gets a third of the bodies, and every body a third of the operations. */
async function everyBody(world: InputWorld, document: OpenApiDocument, form: Form): Promise<Finding> {
  const wrong: string[] = [];
  const operations = document.operations.filter(
    ({ operation }) => operation.requestBody !== undefined && operation.operationId !== "changePassword",
  );
  const before = await world.head();
  let asked = 0;
  let slowestMs = 0;
  const all = bodies();
  for (const [position, operation] of operations.entries()) {
    const sent = all.filter((_, at) => form === "long" || (at + position) % 3 === 0);
    for (const [name, body] of sent) {
      if (operation.operation.operationId === TAKES_ANY_OBJECT && PLAIN_OBJECTS.includes(name)) continue;
      const began = performance.now();
      const found = await put(world, document, operation, pathOf(world, operation), body);
      slowestMs = Math.max(slowestMs, performance.now() - began);
      asked += 1;
      if (found.length > 0) wrong.push(`${operation.method} ${operation.path} with ${name}: ${found.join("; ")}`);
    }
  }
  if ((await world.head()) !== before) wrong.push("something was written");
  return {
    claim:
      "JSON of depth 100,000, with oversized numbers, invalid UTF-8 or NUL is refused by every operation with a body, in the envelope and at once",
    held: wrong.length === 0,
    figure:
      wrong.length === 0
        ? `${asked} requests to ${operations.length} operations, the slowest took ${Math.round(slowestMs)} ms`
        : `${wrong.length} wrong: ${wrong.slice(0, 8).join(" | ").slice(0, 3_000)}`,
  };
}

async function put(
  world: InputWorld,
  document: OpenApiDocument,
  { method }: DocumentedOperation,
  target: string,
  body: Buffer,
): Promise<string[]> {
  const bytes = Buffer.concat([
    Buffer.from(
      head(
        `${method} ${target}`,
        `Cookie: ${world.cookie("owner")}`,
        "Content-Type: application/json",
        `Content-Length: ${body.length}`,
      ),
    ),
    body,
  ]);
  try {
    const answer = await world.connection.ask(method, bytes);
    const found = faults(document, { method, target, whose: "first" }, answer, {
      first: [],
      second: [],
      besides: [],
    });
    return answer.status >= 400 ? found : [...found, `answered ${answer.status}`];
  } catch (error) {
    return [`no answer: ${error instanceof Error ? error.message : error}`];
  }
}

/** The path with live ids. */
function pathOf(world: InputWorld, { path }: DocumentedOperation): string {
  const plural = path.replace(/^\/api\/(v1\/)?/, "").replace(/\/\{.*$/, "");
  return world.resolve(
    path.replace("{id}", `@@own/${plural}/0@@`).replace("{sequence}", "@@sequence@@").replace("{name}", "none"),
    "owner",
  );
}

async function everyPath(world: InputWorld, document: OpenApiDocument): Promise<Finding> {
  const wrong: string[] = [];
  const targets = [
    ...new Set(document.operations.filter(({ path }) => !path.endsWith("/events")).map(({ path }) => path)),
  ];
  let asked = 0;
  for (const path of targets) {
    const target = pathOf(world, { path } as DocumentedOperation);
    const methods = document.operations.filter((each) => each.path === path).map(({ method }) => method);
    const ask = (method: string) =>
      world.connection.ask(method, Buffer.from(head(`${method} ${target}`, `Cookie: ${world.cookie("owner")}`)));
    const [get, headed, options] = [await ask("GET"), await ask("HEAD"), await ask("OPTIONS")];
    asked += 3;
    const isGet = methods.includes("GET");
    if (headed.status !== get.status) wrong.push(`HEAD ${path} answered ${headed.status}, GET ${get.status}`);
    if (isGet && header(headed.headers, "content-type") !== header(get.headers, "content-type"))
      wrong.push(
        `HEAD ${path} is ${header(headed.headers, "content-type")}, GET ${header(get.headers, "content-type")}`,
      );
    const allow = (header(options.headers, "allow") ?? "").split(", ");
    if (options.status !== 405 || !methods.every((method) => allow.includes(method)))
      wrong.push(`OPTIONS ${path} answered ${options.status}, Allow: ${allow.join(", ")}`);
    for (const [method, answer] of [
      ["HEAD", headed],
      ["OPTIONS", options],
    ] as const) {
      const found = faults(document, { method, target, whose: "first" }, answer, {
        first: [],
        second: [],
        besides: [],
      });
      if (found.length > 0) wrong.push(`${method} ${path}: ${found.join("; ")}`);
    }
  }
  return {
    claim: "HEAD answers like GET, without a body; OPTIONS is refused with the allowed methods",
    held: wrong.length === 0,
    figure:
      wrong.length === 0
        ? `${asked} requests to ${targets.length} paths`
        : `${wrong.length} wrong: ${wrong.slice(0, 8).join(" | ").slice(0, 2_000)}`,
  };
}

function header(headers: WireAnswer["headers"], name: string): string | undefined {
  return headers.find(([each]) => each === name)?.[1];
}
