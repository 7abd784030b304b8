// Diff output as JSON, JSON lines, CSV or a text report.

import { entityWords } from "../base/entity-words.ts";
import { formatInstant, type Instant } from "../base/instant.ts";
import type { Thinned } from "../db/pruned-history.ts";
import type { LedgerEntry } from "../db/reading/change-log.ts";
import { longRead, PAUSE } from "../db/reading/long-reads.ts";
import type { Reader } from "../db/reading/reader.ts";
import { csvHead, csvRows, fieldColumns } from "../schemas/csv.ts";
import { metaAt, resolvedMembers, thinnedUntilMember } from "../schemas/envelope.ts";
import { transactionText } from "./change-view.ts";
import { Diff, type Difference, type DiffQuery, type FieldChange } from "./diff.ts";
import { DiffPage } from "./diff-page.ts";
import type { RecordNames } from "./record-names.ts";
import { SORTS, type Sort } from "./touched-records.ts";

export const DIFF_FORMATS = ["json", "ndjson", "csv", "text"] as const;
export type DiffFormat = (typeof DIFF_FORMATS)[number];

export interface DiffInput extends DiffQuery {
  readonly format: DiffFormat;
  readonly sorts: readonly Sort[];
  readonly offset: number;
  /** 0 for all. */
  readonly limit: number;
  readonly fromAt: Instant;
  readonly toAt: Instant;
  /** Set if the end is in thinned history. */
  readonly fromThinned?: Thinned;
  readonly toThinned?: Thinned;
  /** End of thinned history between the two; null if none was thinned. */
  readonly thinnedUntil: Instant | null;
}

/** One row per added or removed record, and per changed field. */
const DIFF_COLUMNS = fieldColumns([
  "change",
  "entity_type",
  "id",
  "name",
  "network_id",
  "host_id",
  "host_name",
  "field",
  "from",
  "to",
  "sequence",
  "at",
  "actor_type",
  "actor_name",
  "request_id",
  "reason",
]);

export const diff = longRead("diff", function* (reader: Reader, input: DiffInput) {
  const differences = new Diff(reader, input);
  for (const _ of differences.gather()) yield PAUSE;
  yield* FORMATS[input.format](differences, input);
});

const FORMATS: Readonly<Record<DiffFormat, (diff: Diff, input: DiffInput) => Generator<Uint8Array>>> = {
  json,
  ndjson,
  csv,
  text,
};

function* json(diff: Diff, input: DiffInput): Generator<Uint8Array> {
  const page = new DiffPage(input.offset, input.limit);
  yield encode(
    `{"success":true,"data":{"from":${bound(input.fromAt, input.from, input.fromThinned)},"to":${bound(input.toAt, input.to, input.toThinned)}`,
  );
  for (const sort of SORTS) {
    let separator = `,"${sort}":[`;
    for (const step of input.sorts.includes(sort) ? diff.differences([sort], page) : []) {
      if (step.length === 0) {
        yield PAUSE;
        continue;
      }
      yield encode(separator + step.map(differenceText).join(","));
      separator = ",";
    }
    yield encode(separator === "," ? "]" : `${separator}]`);
  }
  yield encode(
    `,"counts":${JSON.stringify(diff.counts.byType)}},"meta":${metaAt(null, thinnedUntilMember(latest(input.thinnedUntil, diff.filterThinnedUntil)))}}\n`,
  );
}

function latest(...instants: readonly (Instant | null)[]): Instant | null {
  return instants.reduce((last, each) => (each === null ? last : Math.max(each, last ?? each)), null);
}

/** In order, by kind. */
function paged(diff: Diff, { sorts, offset, limit }: DiffInput): Generator<Difference[]> {
  return diff.differences(sorts, new DiffPage(offset, limit));
}

function* ndjson(diff: Diff, input: DiffInput): Generator<Uint8Array> {
  for (const step of paged(diff, input))
    yield encode(step.map((each) => `{"change":"${each.change}",${differenceText(each).slice(1)}\n`).join(""));
}

function* csv(diff: Diff, input: DiffInput): Generator<Uint8Array> {
  yield encode(csvHead(DIFF_COLUMNS));
  for (const step of paged(diff, input))
    yield encode(
      csvRows(
        DIFF_COLUMNS,
        step.flatMap((each) => rows(each, diff.names)),
      ),
    );
}

function* text(diff: Diff, input: DiffInput): Generator<Uint8Array> {
  yield encode(
    `What changed from ${formatInstant(input.fromAt)} to ${formatInstant(input.toAt)}\n${thinnedLines(input)}`,
  );
  let heading = "";
  for (const step of paged(diff, input)) {
    let lines = "";
    for (const each of step) {
      const title = capitalized(entityWords(each.kind));
      if (title !== heading) lines += `\n${title}\n`;
      heading = title;
      lines += reported(each, diff.names);
    }
    yield encode(lines);
  }
  const { added, removed, changed } = diff.counts.total;
  yield encode(
    added + removed + changed === 0 ? "\nNothing.\n" : `\n${added} added, ${removed} removed, ${changed} changed.\n`,
  );
}

function differenceText(difference: Difference): string {
  const { kind, name, record, transaction } = difference;
  const head = `{"entity_type":"${kind.name}","id":${JSON.stringify(record.id)},"name":${JSON.stringify(name)}`;
  const tail = `"transaction":${transactionText(transaction)}}`;
  if (difference.change !== "changed") return `${head},"record":${JSON.stringify(record)},${tail}`;
  const fields = difference.fields.map(
    (each) =>
      `{"field":${JSON.stringify(each.field)},"from":${JSON.stringify(each.from)},"to":${JSON.stringify(each.to)},"transaction":${each.transaction === null ? "null" : transactionText(each.transaction)}}`,
  );
  return `${head},"host_id":${JSON.stringify(hostIdOf(record))},"fields":[${fields.join(",")}],${tail}`;
}

function rows(difference: Difference, names: RecordNames): Array<Record<string, unknown>> {
  const { change, kind, name, record } = difference;
  const about = {
    change,
    entity_type: kind.name,
    id: record.id,
    name,
    network_id: record.network_id,
    host_id: record.host_id,
    host_name: hostName(difference, names),
  };
  if (difference.change !== "changed") return [{ ...about, ...who(difference.transaction) }];
  return difference.fields.map(({ field, from, to, transaction }) => ({
    ...about,
    field,
    from,
    to,
    ...(transaction === null ? {} : who(transaction)),
  }));
}

function who(transaction: LedgerEntry): Record<string, unknown> {
  const { sequence, at, actorType, actorName, requestId, reason } = transaction;
  return {
    sequence,
    at: formatInstant(at),
    actor_type: actorType,
    actor_name: actorName,
    request_id: requestId,
    reason,
  };
}

/** `+ core-1`, `- core-1`, or `~ core-1` and its fields, each with author, time and, if given, reason. */
function reported(difference: Difference, names: RecordNames): string {
  const by = (entry: LedgerEntry | null) =>
    entry === null
      ? "author not kept"
      : `${oneLine(entry.actorName)}, ${formatInstant(entry.at)}${entry.reason === null ? "" : `: ${oneLine(entry.reason)}`}`;
  const host = hostName(difference, names);
  const name = oneLine(host === null ? difference.name : `${host} ${difference.name}`);
  if (difference.change !== "changed")
    return `  ${difference.change === "added" ? "+" : "-"} ${name}  (${by(difference.transaction)})\n`;
  return `  ~ ${name}\n${difference.fields.map((each) => `      ${each.field}: ${moved(each, names)}  (${by(each.transaction)})\n`).join("")}`;
}

/** Null if the record does not belong to a host. */
function hostIdOf(record: Difference["record"]): string | null {
  return typeof record.host_id === "string" ? record.host_id : null;
}

function hostName({ record }: Difference, names: RecordNames): string | null {
  const id = hostIdOf(record);
  return id === null ? null : (names.of(id) ?? id);
}

/** `"a" → "b"`; for lists only the difference: a forwarding table has thousands of entries. */
function moved({ field, from, to }: FieldChange, names: RecordNames): string {
  const nameOf = REFERENCE.test(field) ? (id: string) => names.of(id) : () => null;
  const [old, now] = [listOf(from), listOf(to)];
  if (old === null || now === null || (from === null && to === null))
    return `${shown(from, nameOf)} → ${shown(to, nameOf)}`;
  const [before, after] = [new Set(old), new Set(now)];
  const called = (value: string) => oneLine(nameOf(value) ?? value);
  const came = now.filter((each) => !before.has(each)).map((each) => `+${called(each)}`);
  const went = old.filter((each) => !after.has(each)).map((each) => `-${called(each)}`);
  return [...came, ...went].join(" ") || "in another order";
}

/** Fields that contain references; elsewhere an id is plain text. */
const REFERENCE = /_ids?$|^tags$|^neighbor$/;

/** Null for anything but a list of texts; a missing list is empty. */
function listOf(value: unknown): string[] | null {
  if (value === null) return [];
  return Array.isArray(value) && value.every((each) => typeof each === "string") ? value : null;
}

/** On one line, without terminal control characters; references by name. */
function shown(value: unknown, nameOf: (id: string) => string | null): string {
  if (value === null) return "none";
  const id = typeof value === "object" ? (value as { id?: unknown }).id : value;
  const name = typeof id === "string" ? nameOf(id) : null;
  return oneLine(name ?? JSON.stringify(value));
}

function oneLine(value: string): string {
  return value.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, " ");
}

function capitalized(words: string): string {
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

function bound(at: Instant, sequence: number, thinned: Thinned | undefined): string {
  return `${JSON.stringify({ at: formatInstant(at), sequence }).slice(0, -1)}${resolvedMembers(thinned)}}`;
}

function thinnedLines({ fromThinned, toThinned, thinnedUntil }: DiffInput): string {
  if (thinnedUntil === null) return "";
  const lines = [`History up to ${formatInstant(thinnedUntil)} was thinned: some changes are gone.`];
  for (const [end, thinned] of [
    ["beginning", fromThinned],
    ["end", toThinned],
  ] as const) {
    if (thinned !== undefined)
      lines.push(
        `The ${end} is ${thinned.resolvedAt === null ? "before every kept state" : `as of ${formatInstant(thinned.resolvedAt)}, the last state kept before it`}.`,
      );
  }
  return `${lines.join("\n")}\n`;
}

const encoder = new TextEncoder();

function encode(part: string): Uint8Array {
  return encoder.encode(part);
}
