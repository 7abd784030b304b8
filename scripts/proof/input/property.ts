// Property-based test: runs drafts against the appliance, checks each response, and shrinks failing drafts.

import fc, { type Arbitrary } from "fast-check";
import type { DocumentedOperation, OpenApiDocument } from "../../../test/support/contract/openapi.ts";
import { PASSWORD } from "../../../test/support/executable/executable.ts";
import { PROOF_HANG_MS } from "../../../test/support/measure/limits.ts";
import { changedNames, type InputFixture } from "./fixture.ts";
import { type Draft, draftsOf, SECRET_MARK } from "./generate.ts";
import { applyMutations, textOf, toNode } from "./json-text.ts";
import { type Effects, faults } from "./response-checks.ts";
import { ClosedBeforeResponse, type WireResponse } from "./wire.ts";

/** Number of requests between refills of the fixture. */
const FILL_EVERY = 250;

export interface Tally {
  requests: number;
  /** Anonymous memory of the appliance after each round. */
  readonly memoryKib: number[];
  /** Number of responses by operation and status. */
  readonly statuses: Map<string, Map<number, number>>;
  /** Messages of refusals with their counts, by operation. */
  readonly refusals: Map<string, Map<string, number>>;
  /** Smallest failing request of each operation that failed. */
  readonly failures: (Outcome & { readonly operation: string })[];
}

interface Outcome {
  readonly faults: readonly string[];
  readonly curl: string;
}

interface Rounds {
  /** Default: all operations of the document. */
  readonly operations?: readonly DocumentedOperation[];
  readonly rounds: number;
  readonly runsEach: number;
  readonly seed: number;
  readonly say: (line: string) => void;
  /** Counts to add to. */
  readonly tally?: Tally;
}

const newTally = (): Tally => ({ requests: 0, memoryKib: [], statuses: new Map(), refusals: new Map(), failures: [] });

/** Runs `runsEach` drafts for each operation in every round; stops early after a timeout or many failures. */
export async function runAll(
  fixture: InputFixture,
  document: OpenApiDocument,
  { operations = document.operations, rounds, runsEach, seed, say, tally = newTally() }: Rounds,
): Promise<Tally> {
  const started = performance.now();
  // Prepared once: for a large body, this takes longer than a request.
  const drafts = operations.map((operation) => draftsOf(document.document, operation));
  for (let round = 0; round < rounds; round += 1) {
    for (const [position, operation] of operations.entries()) {
      if (performance.now() - started > PROOF_HANG_MS || tally.failures.length >= 25) return tally;
      const name = operation.operation.operationId as string;
      if (tally.failures.some((failure) => failure.operation === name)) continue;
      let last: Outcome | null = null;
      const property = fc.asyncProperty(drafts[position] as Arbitrary<Draft>, async (draft) => {
        const outcome = await runDraft(fixture, document, operation, draft, tally);
        if (outcome.faults.length === 0) return;
        last = outcome;
        throw new Error(outcome.faults.join("; "));
      });
      const result = await fc.check(property, {
        numRuns: runsEach,
        seed: seed * 1_000_003 + round * 1_009 + position,
        endOnFailure: false,
        interruptAfterTimeLimit: 20_000,
        markInterruptAsFailure: false,
      });
      // Shrinking ends with the smallest draft that still failed.
      if (last !== null) tally.failures.push({ operation: name, ...(last as Outcome) });
      if (result.failed && last === null) throw new Error(`input: ${name}: ${result.errorInstance}`);
    }
    tally.memoryKib.push(fixture.footprint().memoryKib);
    say(`${tally.requests} requests, ${tally.failures.length} operations failed`);
  }
  return tally;
}

async function runDraft(
  fixture: InputFixture,
  document: OpenApiDocument,
  operation: DocumentedOperation,
  draft: Draft,
  tally: Tally,
): Promise<Outcome> {
  if (tally.requests % FILL_EVERY === FILL_EVERY - 1) await fixture.fill();
  tally.requests += 1;
  const name = operation.operation.operationId as string;
  await fixture.prepare(name);
  const target = fixture.resolve(draft.target, draft.caller);
  const cookie = fixture.cookie(draft.caller);
  const bodyBytes = draft.body === null ? null : await bytesOf(fixture, operation, draft, target);
  const headers: [string, string][] = [
    ["Host", `127.0.0.1:${fixture.port}`],
    ["X-Request-Id", `input-${tally.requests}`],
  ];
  if (cookie !== null) headers.push(["Cookie", cookie]);
  if (draft.body !== null && draft.body.type !== "") headers.push(["Content-Type", draft.body.type]);
  if (bodyBytes !== null) headers.push(["Content-Length", String(bodyBytes.length)]);
  // The request has an X-Request-Id already; two would be invalid.
  for (const [name, value] of draft.headers)
    if (name !== "X-Request-Id") headers.push([name, fixture.resolve(value, draft.caller)]);
  const head = `${draft.method} ${target} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
  const bytes = Buffer.concat([Buffer.from(head, "latin1"), bodyBytes ?? Buffer.alloc(0)]);
  const curl = curlOf(fixture, draft.method, target, headers, bodyBytes);
  const before = fixture.sequence;
  const otherDataBefore = fixture.otherData();
  let response: WireResponse;
  try {
    response = await fixture.connection.request(draft.method, bytes).catch((error: unknown) => {
      if (!(error instanceof ClosedBeforeResponse) || !["GET", "HEAD"].includes(draft.method)) throw error;
      return fixture.connection.request(draft.method, bytes);
    });
  } catch (error) {
    return { faults: [`no response: ${error instanceof Error ? error.message : error}`], curl };
  }
  count(tally.statuses, name, response.status);
  if (response.status >= 400) count(tally.refusals, name, `${response.status} ${errorOf(response)}`);
  const isWritten = (await fixture.head()) !== before;
  const effects: Effects = {
    first: isWritten ? await fixture.transactionsSince("first", before) : [],
    second: isWritten ? await fixture.transactionsSince("second", before) : [],
    otherChanges: changedNames(otherDataBefore, fixture.otherData()),
  };
  const sent = { method: draft.method, target, org: fixture.organizationOf(draft.caller).org };
  const found = faults(document, sent, response, effects);
  if (name === "changePassword" && response.status === 200) await fixture.resetPassword(draft.caller);
  else if ((response.status === 401 || target.includes("/auth/")) && !(await fixture.isSignedIn(draft.caller)))
    await fixture.signIn(draft.caller);
  return { faults: found, curl };
}

async function bytesOf(
  fixture: InputFixture,
  operation: DocumentedOperation,
  { caller, body }: Draft,
  target: string,
): Promise<Buffer> {
  const { base, mutations, encoding } = body as NonNullable<Draft["body"]>;
  let text: string;
  if (base.source === "text") text = base.text;
  else {
    const value =
      base.source === "schema" || base.source === "anything"
        ? base.value
        : ((base.source === "record" ? await readRecord(fixture, caller, target) : null) ?? exampleOf(operation));
    text = textOf(applyMutations(toNode(value as never), mutations));
  }
  text = restrictTargets(fixture.resolve(text, caller), operation);
  // A secret swapped into a name would legitimately be shown.
  if (mutations.some(({ kind }) => kind === "swap"))
    text = text.replaceAll(SECRET_MARK, "swapped").replaceAll(PASSWORD, "a swapped password");
  const bytes = Buffer.from(text, encoding === "utf-16le" || encoding === "latin1" ? encoding : "utf-8");
  if (encoding === "bom") return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]);
  const [start, end] = [bytes.subarray(0, bytes.length >> 1), bytes.subarray(bytes.length >> 1)];
  if (encoding === "truncated") return start;
  return encoding === "broken" ? Buffer.concat([start, Buffer.from([0xff, 0xc0, 0x80]), end]) : bytes;
}

/** Reads the record at a path as the caller sees it, to be sent back as a client would. */
async function readRecord(fixture: InputFixture, caller: Draft["caller"], target: string): Promise<unknown> {
  const cookie = fixture.cookie(caller);
  const path = target.replace(/\?.*$/s, "");
  if (cookie === null || !/^[\x21-\x7e]+$/.test(path)) return null;
  const response = await fixture.appliance.client({ cookie }).get(path);
  return response.status === 200 ? response.data : null;
}

function exampleOf({ operation }: DocumentedOperation): unknown {
  return (operation as any).requestBody?.content?.["application/json"]?.example ?? {};
}

/** Replaces scan targets and schedules: scans must not leave this machine or start by themselves. */
function restrictTargets(text: string, { operation }: DocumentedOperation): string {
  // This operation sends no probes, and conflicts concern other addresses.
  if (operation.operationId === "acceptConflict") return text;
  const local = text.replaceAll(
    /"(?!127\.)\d{1,3}(\.\d{1,3}){3}(\/\d+)?"/g,
    (_all, _part, prefix: string | undefined) => (prefix === undefined ? '"127.1.0.9"' : `"127.9.0.0/16"`),
  );
  if (!["createScan", "createSchedule", "updateSchedule"].includes(operation.operationId as string)) return local;
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(local);
  } catch {
    return local;
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) return local;
  const targets = value.targets;
  const isLocal =
    Array.isArray(targets) &&
    targets.length > 0 &&
    targets.every((target) => typeof target !== "string" || /^127\.0\.0\.\d+(\/3\d)?$/.test(target));
  if (isLocal && (value.cron === undefined || value.cron === "30 2 29 2 *")) return local;
  return JSON.stringify({
    ...value,
    targets: isLocal ? targets : ["127.0.0.1"],
    ...(value.cron === undefined ? {} : { cron: "30 2 29 2 *" }),
  });
}

function count<Key>(counts: Map<string, Map<Key, number>>, operation: string, key: Key): void {
  const operationCounts = counts.get(operation) ?? new Map<Key, number>();
  counts.set(operation, operationCounts.set(key, (operationCounts.get(key) ?? 0) + 1));
}

/** Message of a refusal without ids, so that refusals of one kind can be counted. */
function errorOf({ body }: WireResponse): string {
  const text = body.toString("utf8");
  const [, code = ""] = /"code":"(\w+)"/.exec(text) ?? [];
  const [, error = ""] = /"error":"((?:[^"\\]|\\.)*)"/.exec(text) ?? [];
  return `${code}: ${error.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID")}`.slice(0, 160);
}

/** Renders a request as a curl command, without the session. */
function curlOf(
  fixture: InputFixture,
  method: string,
  target: string,
  headers: readonly (readonly [string, string])[],
  body: Buffer | null,
): string {
  const quoted = (text: string) => shellQuoted(Buffer.from(text, "latin1"));
  const parts = [
    `curl -sS --path-as-is --globoff -X ${method}`,
    quoted(`http://127.0.0.1:${fixture.port}${target}`),
    ...headers
      .filter(([name]) => !["Host", "Content-Length", "X-Request-Id"].includes(name))
      .map(([name, value]) => (name === "Cookie" ? "Cookie: $COOKIE" : `${name}${value === "" ? ";" : `: ${value}`}`))
      .map((line) => `-H ${quoted(line)}`),
  ];
  if (body !== null) parts.push(`--data-binary ${shellQuoted(body.subarray(0, 3_000))}`);
  if (body !== null && body.length > 3_000) parts.push(`# truncated: ${body.length} bytes`);
  return parts.join(" ");
}

/** Quotes bytes for bash. */
function shellQuoted(bytes: Buffer): string {
  const text = bytes
    .toString("latin1")
    .replaceAll(/['\\]/g, "\\$&")
    .replaceAll(/[^ -~]/g, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`);
  return text.includes("\\") ? `$'${text}'` : `'${text}'`;
}
