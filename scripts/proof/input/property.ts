// Runs drafts against the appliance, has each answer judged, and shrinks failing drafts. Must not judge.

import fc, { type Arbitrary } from "fast-check";
import type { DocumentedOperation, OpenApiDocument } from "../../../test/support/contract/openapi.ts";
import { PASSWORD } from "../../../test/support/executable/executable.ts";
import { PROOF_HANG_MS } from "../../../test/support/measure/limits.ts";
import { type Draft, draftsOf, SECRET_MARK } from "./generate.ts";
import { mutated, textOf, written } from "./json-text.ts";
import { faults, type Happened } from "./judge.ts";
import { ClosedUnanswered, type WireAnswer } from "./wire.ts";
import { differing, type InputWorld } from "./world.ts";

/** Number of requests between refills of the world. */
const FILL_EVERY = 250;

export interface Tally {
  asked: number;
  /** Anonymous memory of the appliance after each round. */
  readonly memoryKib: number[];
  /** By operation and status. */
  readonly statuses: Map<string, Map<number, number>>;
  /** Messages of refusals with their counts, by operation. */
  readonly refusals: Map<string, Map<string, number>>;
  /** The smallest failing request of each failing operation. */
  readonly failures: { readonly operation: string; readonly faults: readonly string[]; readonly curl: string }[];
}

interface Rounds {
  /** All of the document by default. */
  readonly operations?: readonly DocumentedOperation[];
  readonly rounds: number;
  readonly runsEach: number;
  readonly seed: number;
  readonly say: (line: string) => void;
}

/** All operations in turn with `runsEach` drafts each, for a number of rounds or a duration. */
export async function askAll(
  world: InputWorld,
  document: OpenApiDocument,
  { operations = document.operations, rounds, runsEach, seed, say }: Rounds,
): Promise<Tally> {
  const tally: Tally = { asked: 0, memoryKib: [], statuses: new Map(), refusals: new Map(), failures: [] };
  const began = performance.now();
  // For a large body, generating drafts takes longer than a request.
  const drafts = operations.map((operation) => draftsOf(document.document, operation));
  for (let round = 0; round < rounds; round += 1) {
    for (const [position, operation] of operations.entries()) {
      if (performance.now() - began > PROOF_HANG_MS || tally.failures.length >= 25) return tally;
      const name = operation.operation.operationId as string;
      if (tally.failures.some((each) => each.operation === name)) continue;
      let last: { faults: readonly string[]; curl: string } | null = null;
      const property = fc.asyncProperty(drafts[position] as Arbitrary<Draft>, async (draft) => {
        const outcome = await ask(world, document, operation, draft, tally);
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
      if (last !== null)
        tally.failures.push({ operation: name, ...(last as { faults: readonly string[]; curl: string }) });
      if (result.failed && last === null) throw new Error(`input: ${name}: ${result.errorInstance}`);
    }
    tally.memoryKib.push(world.footprint().memoryKib);
    say(`${tally.asked} requests, ${tally.failures.length} operations failed`);
  }
  return tally;
}

async function ask(
  world: InputWorld,
  document: OpenApiDocument,
  operation: DocumentedOperation,
  draft: Draft,
  tally: Tally,
): Promise<{ faults: readonly string[]; curl: string }> {
  if (tally.asked % FILL_EVERY === FILL_EVERY - 1) await world.fill();
  tally.asked += 1;
  const name = operation.operation.operationId as string;
  await world.prepare(name);
  const target = world.resolve(draft.target, draft.asker);
  const cookie = world.cookie(draft.asker);
  const bodyBytes = draft.body === null ? null : await bytesOf(world, operation, draft, target);
  const headers: [string, string][] = [
    ["Host", `127.0.0.1:${world.port}`],
    ["X-Request-Id", `input-${tally.asked}`],
    ...(cookie === null ? [] : [["Cookie", cookie] as [string, string]]),
    ...(draft.body === null || draft.body.type === "" ? [] : [["Content-Type", draft.body.type] as [string, string]]),
    ...(bodyBytes === null ? [] : [["Content-Length", String(bodyBytes.length)] as [string, string]]),
    // Two request ids in one request would be invalid.
    ...draft.headers
      .filter(([name]) => name !== "X-Request-Id")
      .map(([name, value]) => [name, world.resolve(value, draft.asker)] as [string, string]),
  ];
  const head = `${draft.method} ${target} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
  const bytes = Buffer.concat([Buffer.from(head, "latin1"), bodyBytes ?? Buffer.alloc(0)]);
  const curl = curlOf(world, draft.method, target, headers, bodyBytes);
  const before = world.sequence;
  const sideBefore = world.beside();
  let answer: WireAnswer;
  try {
    answer = await world.connection.ask(draft.method, bytes).catch((error: unknown) => {
      if (!(error instanceof ClosedUnanswered) || !["GET", "HEAD"].includes(draft.method)) throw error;
      return world.connection.ask(draft.method, bytes);
    });
  } catch (error) {
    return { faults: [`no answer: ${error instanceof Error ? error.message : error}`], curl };
  }
  count(tally.statuses, name, answer.status);
  if (answer.status >= 400) count(tally.refusals, name, `${answer.status} ${errorOf(answer)}`);
  const isWritten = (await world.head()) !== before;
  const happened: Happened = {
    first: isWritten ? await world.transactionsSince("first", before) : [],
    second: isWritten ? await world.transactionsSince("second", before) : [],
    besides: differing(sideBefore, world.beside()),
  };
  const found = faults(
    document,
    { method: draft.method, target, whose: world.of(draft.asker).whose },
    answer,
    happened,
  );
  if (name === "changePassword" && answer.status === 200) await world.resetPassword(draft.asker);
  else if ((answer.status === 401 || target.includes("/auth/")) && !(await world.isSignedIn(draft.asker)))
    await world.signIn(draft.asker);
  return { faults: found, curl };
}

async function bytesOf(
  world: InputWorld,
  operation: DocumentedOperation,
  { asker, body }: Draft,
  target: string,
): Promise<Buffer> {
  const { base, mutations, encoding } = body as NonNullable<Draft["body"]>;
  let text: string;
  if (base.of === "text") text = base.text;
  else {
    const value =
      base.of === "schema" || base.of === "anything"
        ? base.value
        : ((base.of === "record" ? await record(world, asker, target) : null) ?? exampleOf(operation));
    text = textOf(mutated(written(value as never), mutations));
  }
  text = kept(world.resolve(text, asker), operation);
  // A secret swapped into a name would legitimately be shown.
  if (mutations.some(({ kind }) => kind === "swap"))
    text = text.replaceAll(SECRET_MARK, "swapped").replaceAll(PASSWORD, "a swapped password");
  const bytes = Buffer.from(text, encoding === "utf-16le" || encoding === "latin1" ? encoding : "utf-8");
  if (encoding === "bom") return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]);
  if (encoding === "truncated") return bytes.subarray(0, Math.floor(bytes.length / 2));
  if (encoding === "broken")
    return Buffer.concat([
      bytes.subarray(0, bytes.length >> 1),
      Buffer.from([0xff, 0xc0, 0x80]),
      bytes.subarray(bytes.length >> 1),
    ]);
  return bytes;
}

/** Record at a path as seen by the caller, as a client would send it back. */
async function record(world: InputWorld, asker: Draft["asker"], target: string): Promise<unknown> {
  const cookie = world.cookie(asker);
  const path = target.replace(/\?.*$/s, "");
  if (cookie === null || !/^[\x21-\x7e]+$/.test(path)) return null;
  const answer = await world.appliance.client({ cookie }).get(path);
  return answer.status === 200 ? answer.data : null;
}

function exampleOf({ operation }: DocumentedOperation): unknown {
  return (operation as any).requestBody?.content?.["application/json"]?.example ?? {};
}

/** Scans must not leave this machine or start by themselves: recorded data is arbitrary, scan targets are not. */
function kept(text: string, { operation }: DocumentedOperation): string {
  // Sends no probes, and a conflict is about other addresses.
  if (operation.operationId === "acceptConflict") return text;
  const near = text.replaceAll(
    /"(?!127\.)\d{1,3}(\.\d{1,3}){3}(\/\d+)?"/g,
    (_all, _part, prefix: string | undefined) => (prefix === undefined ? '"127.1.0.9"' : `"127.9.0.0/16"`),
  );
  if (!["createScan", "createSchedule", "updateSchedule"].includes(operation.operationId as string)) return near;
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(near);
  } catch {
    return near;
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) return near;
  const targets = value.targets;
  const isNear =
    Array.isArray(targets) &&
    targets.length > 0 &&
    targets.every((each) => typeof each !== "string" || /^127\.0\.0\.\d+(\/3\d)?$/.test(each));
  if (isNear && (value.cron === undefined || value.cron === "30 2 29 2 *")) return near;
  return JSON.stringify({
    ...value,
    targets: isNear ? targets : ["127.0.0.1"],
    ...(value.cron === undefined ? {} : { cron: "30 2 29 2 *" }),
  });
}

function count<Key>(counts: Map<string, Map<Key, number>>, operation: string, key: Key): void {
  const ofIts = counts.get(operation) ?? new Map<Key, number>();
  counts.set(operation, ofIts.set(key, (ofIts.get(key) ?? 0) + 1));
}

/** Message of a refusal, equal for all refusals of a kind, so that kinds can be counted. */
function errorOf({ body }: WireAnswer): string {
  const text = body.toString("utf8");
  const [, code = ""] = /"code":"(\w+)"/.exec(text) ?? [];
  const [, error = ""] = /"error":"((?:[^"\\]|\\.)*)"/.exec(text) ?? [];
  return `${code}: ${error.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID")}`.slice(0, 160);
}

/** As a curl command without the session. */
function curlOf(
  world: InputWorld,
  method: string,
  target: string,
  headers: readonly (readonly [string, string])[],
  body: Buffer | null,
): string {
  const shown = headers
    .filter(([name]) => !["Host", "Content-Length", "X-Request-Id"].includes(name))
    .map(
      ([name, value]) =>
        `-H ${quoted(Buffer.from(name === "Cookie" ? "Cookie: $COOKIE" : `${name}${value === "" ? ";" : `: ${value}`}`, "latin1"))}`,
    );
  const data =
    body === null
      ? []
      : [
          `--data-binary ${quoted(body.subarray(0, 3_000))}${body.length > 3_000 ? ` # cut off: ${body.length} bytes` : ""}`,
        ];
  return [
    `curl -sS --path-as-is --globoff -X ${method}`,
    quoted(Buffer.from(`http://127.0.0.1:${world.port}${target}`, "latin1")),
    ...shown,
    ...data,
  ].join(" ");
}

/** For bash. */
function quoted(bytes: Uint8Array): string {
  const text = [...bytes]
    .map((byte) =>
      byte === 0x27 || byte === 0x5c
        ? `\\${String.fromCharCode(byte)}`
        : byte >= 0x20 && byte < 0x7f
          ? String.fromCharCode(byte)
          : `\\x${byte.toString(16).padStart(2, "0")}`,
    )
    .join("");
  return text.includes("\\") ? `$'${text}'` : `'${text}'`;
}
