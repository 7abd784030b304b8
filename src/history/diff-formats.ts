// Diff output as JSON, JSON lines, CSV or a plain-text report.

import { entityWords } from "../base/entity-words.ts";
import { formatInstant, type Instant } from "../base/instant.ts";
import type { ThinnedNotice } from "../db/pruned-history.ts";
import type { LedgerEntry } from "../db/reading/change-log.ts";
import { longRead, PAUSE, utf8 } from "../db/reading/long-reads.ts";
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
  readonly fromThinned?: ThinnedNotice;
  readonly toThinned?: ThinnedNotice;
  /** End of thinned history between the two; null if none was thinned. */
  readonly thinnedUntil: Instant | null;
}

/** One row per added or removed record, and per changed field. */
const DIFF_COLUMNS = fieldColumns([
  ..."change entity_type id name network_id host_id host_name field from to".split(" "),
  ..."sequence at actor_type actor_name request_id reason".split(" "),
]);

export const diff = longRead("diff", function* (reader: Reader, input: DiffInput) {
  const differences = new Diff(reader, input);
  for (const _ of differences.gather()) yield PAUSE;
  yield* FORMATS[input.format](differences, input);
});

type DiffWriter = (diff: Diff, input: DiffInput) => Generator<Uint8Array>;
const FORMATS: Readonly<Record<DiffFormat, DiffWriter>> = { json, ndjson, csv, text };

function* json(diff: Diff, input: DiffInput): Generator<Uint8Array> {
  const page = new DiffPage(input.offset, input.limit);
  yield utf8(
    `{"success":true,"data":{"from":${bound(input.fromAt, input.from, input.fromThinned)},"to":${bound(input.toAt, input.to, input.toThinned)}`,
  );
  for (const sort of SORTS) {
    let separator = `,"${sort}":[`;
    for (const step of input.sorts.includes(sort) ? diff.differences([sort], page) : []) {
      if (step.length === 0) {
        yield PAUSE;
        continue;
      }
      yield utf8(separator + step.map(differenceText).join(","));
      separator = ",";
    }
    yield utf8(separator === "," ? "]" : `${separator}]`);
  }
  yield utf8(
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
    yield utf8(step.map((each) => `{"change":"${each.change}",${differenceText(each).slice(1)}\n`).join(""));
}

function* csv(diff: Diff, input: DiffInput): Generator<Uint8Array> {
  yield utf8(csvHead(DIFF_COLUMNS));
  for (const step of paged(diff, input)) {
    const found = step.flatMap((each) => rows(each, diff.names));
    yield utf8(csvRows(DIFF_COLUMNS, found));
  }
}

function* text(diff: Diff, input: DiffInput): Generator<Uint8Array> {
  yield utf8(`Changes from ${formatInstant(input.fromAt)} to ${formatInstant(input.toAt)}\n${thinnedLines(input)}`);
  let heading = "";
  for (const step of paged(diff, input)) {
    let lines = "";
    for (const each of step) {
      const title = capitalize(entityWords(each.kind));
      if (title !== heading) lines += `\n${title}\n`;
      heading = title;
      lines += renderDifference(each, diff.names);
    }
    yield utf8(lines);
  }
  const { added, removed, changed } = diff.counts.total;
  yield utf8(
    added + removed + changed === 0 ? "\nNo changes.\n" : `\n${added} added, ${removed} removed, ${changed} changed.\n`,
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
  const common = {
    change,
    entity_type: kind.name,
    id: record.id,
    name,
    network_id: record.network_id,
    host_id: record.host_id,
    host_name: hostName(difference, names),
  };
  if (difference.change !== "changed") return [{ ...common, ...authorColumns(difference.transaction) }];
  return difference.fields.map(({ field, from, to, transaction }) => ({
    ...common,
    field,
    from,
    to,
    ...(transaction === null ? {} : authorColumns(transaction)),
  }));
}

function authorColumns(transaction: LedgerEntry): Record<string, unknown> {
  const { sequence, at, actorType, actorName, requestId, reason } = transaction;
  const actor = { actor_type: actorType, actor_name: actorName };
  return { sequence, at: formatInstant(at), ...actor, request_id: requestId, reason };
}

/** `+ core-1`, `- core-1`, or `~ core-1` and its fields, each with author, time and, if given, reason. */
function renderDifference(difference: Difference, names: RecordNames): string {
  const by = (entry: LedgerEntry | null) => {
    if (entry === null) return "author unknown";
    const reason = entry.reason === null ? "" : `: ${oneLine(entry.reason)}`;
    return `${oneLine(entry.actorName)}, ${formatInstant(entry.at)}${reason}`;
  };
  const host = hostName(difference, names);
  const name = oneLine(host === null ? difference.name : `${host} ${difference.name}`);
  if (difference.change !== "changed")
    return `  ${difference.change === "added" ? "+" : "-"} ${name}  (${by(difference.transaction)})\n`;
  return `  ~ ${name}\n${difference.fields.map((each) => `      ${each.field}: ${renderChange(each, names)}  (${by(each.transaction)})\n`).join("")}`;
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
function renderChange({ field, from, to }: FieldChange, names: RecordNames): string {
  const nameOf = REFERENCE.test(field) ? (id: string) => names.of(id) : () => null;
  const [oldList, newList] = [listOf(from), listOf(to)];
  if (oldList === null || newList === null || (from === null && to === null))
    return `${renderValue(from, nameOf)} → ${renderValue(to, nameOf)}`;
  const [before, after] = [new Set(oldList), new Set(newList)];
  const labelOf = (value: string) => oneLine(nameOf(value) ?? value);
  const added = newList.filter((each) => !before.has(each)).map((each) => `+${labelOf(each)}`);
  const removed = oldList.filter((each) => !after.has(each)).map((each) => `-${labelOf(each)}`);
  return [...added, ...removed].join(" ") || "in another order";
}

/** Fields that contain references; elsewhere an id is plain text. */
const REFERENCE = /_ids?$|^tags$|^neighbor$/;

/** Null for anything but a list of strings; a missing list is empty. */
function listOf(value: unknown): string[] | null {
  if (value === null) return [];
  return Array.isArray(value) && value.every((each) => typeof each === "string") ? value : null;
}

/** On one line, without terminal control characters; references by name. */
function renderValue(value: unknown, nameOf: (id: string) => string | null): string {
  if (value === null) return "none";
  const id = typeof value === "object" ? (value as { id?: unknown }).id : value;
  const name = typeof id === "string" ? nameOf(id) : null;
  return oneLine(name ?? JSON.stringify(value));
}

function oneLine(value: string): string {
  return value.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, " ");
}

function capitalize(words: string): string {
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

function bound(at: Instant, sequence: number, thinned: ThinnedNotice | undefined): string {
  return `${JSON.stringify({ at: formatInstant(at), sequence }).slice(0, -1)}${resolvedMembers(thinned)}}`;
}

function thinnedLines({ fromThinned, toThinned, thinnedUntil }: DiffInput): string {
  if (thinnedUntil === null) return "";
  const lines = [`History up to ${formatInstant(thinnedUntil)} was thinned: some changes were dropped.`];
  for (const [end, thinned] of [
    ["beginning", fromThinned],
    ["end", toThinned],
  ] as const) {
    if (thinned !== undefined)
      lines.push(
        `The ${end} is ${thinned.resolvedAt === null ? "before the first retained state" : `as of ${formatInstant(thinned.resolvedAt)}, the last state retained before it`}.`,
      );
  }
  return `${lines.join("\n")}\n`;
}
