// Faults as patches: the location in a file, the replaced text, and the surrounding lines that find the location in
// another commit after lines were added or the file was moved.

import { basename } from "node:path";

export const FAULT_KINDS = [
  "negated condition",
  "removed call",
  "changed constant",
  "omitted field",
  "swapped arguments",
  "removed await",
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** File contents by path, relative to the repository. */
export type Sources = ReadonlyMap<string, string>;

export interface Fault {
  /** Hash of the fault and its place in the original commit. */
  readonly id: string;
  readonly kind: FaultKind;
  readonly file: string;
  /** First line, counted from 1. */
  readonly line: number;
  /** Number of characters between the first line's indentation and the fault. */
  readonly column: number;
  readonly before: string;
  readonly after: string;
  /** Lines covered by the fault, without indentation. */
  readonly lines: readonly string[];
  /** Lines above and below without indentation, nearest first; empty lines are omitted. */
  readonly above: readonly string[];
  readonly below: readonly string[];
}

/** Place of a fault in a commit, and the file's text with the fault. */
export interface Located {
  readonly file: string;
  readonly line: number;
  readonly endLine: number;
  readonly text: string;
}

/** Number of surrounding lines on each side, which distinguish similar places. */
const CONTEXT_LINES = 5;

/** Describes a fault as a patch. @param start index of the first character of `before` in `text` */
export function patchAt(
  { kind, file, start, before, after }: Pick<Fault, "kind" | "file" | "before" | "after"> & { start: number },
  text: string,
): Fault {
  const all = text.split("\n");
  const first = text.slice(0, start).split("\n").length - 1;
  const last = first + before.split("\n").length - 1;
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  return {
    id: Bun.hash([file, kind, start, before, after].join("\0")).toString(36).slice(-8),
    kind,
    file,
    line: first + 1,
    column: start - lineStart - indentation(all[first] ?? ""),
    before,
    after,
    lines: all.slice(first, last + 1).map((line) => line.trim()),
    above: context(all.slice(0, first).reverse()),
    below: context(all.slice(last + 1)),
  };
}

/**
 * Locates a fault in the sources of a commit: in its file, a file of the same name, or any file. Of similar places it
 * prefers the best matching context, then the nearest. Null if the lines no longer exist.
 */
export function locate(fault: Fault, sources: Sources): Located | null {
  const hasSameName = (path: string) => basename(path) === basename(fault.file);
  const paths = [...sources.keys()];
  const groups = [
    paths.filter((path) => path === fault.file),
    paths.filter((path) => path !== fault.file && hasSameName(path)),
    paths.filter((path) => !hasSameName(path)),
  ];
  for (const group of groups) {
    const found = group
      .flatMap((path) => matchesIn(fault, path, sources.get(path) ?? ""))
      .sort((a, b) => b.agreement - a.agreement || a.distance - b.distance)[0];
    if (found !== undefined) return found.located;
  }
  return null;
}

/** Renders the lines without and with the fault, each as one readable line. */
export function changeOf(fault: Fault): { was: string; becomes: string } {
  const was = fault.lines.join("\n");
  // Inner indentation is not in `lines`.
  const before = fault.before.replaceAll(/\n\s*/g, "\n");
  const end = fault.column + before.length;
  return { was: short(was), becomes: short(was.slice(0, fault.column) + fault.after + was.slice(end)) };
}

const SHORT_LENGTH = 160;

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > SHORT_LENGTH ? `${line.slice(0, SHORT_LENGTH - 1)}…` : line;
}

function matchesIn(fault: Fault, file: string, text: string) {
  const all = text.split("\n");
  const trimmed = all.map((line) => line.trim());
  const starts: number[] = [];
  let offset = 0;
  for (const line of all) {
    starts.push(offset);
    offset += line.length + 1;
  }
  return trimmed.flatMap((_, first) => {
    if (!fault.lines.every((line, index) => trimmed[first + index] === line)) return [];
    const last = first + fault.lines.length - 1;
    const start = (starts[first] ?? 0) + indentation(all[first] ?? "") + fault.column;
    const end = endOf(fault, start, text);
    if (end === null) return [];
    const agreement =
      similarity(fault.above, context(trimmed.slice(0, first).reverse())) +
      similarity(fault.below, context(trimmed.slice(last + 1)));
    const patched = text.slice(0, start) + fault.after + text.slice(end);
    const located: Located = { file, line: first + 1, endLine: last + 1, text: patched };
    return [{ located, agreement, distance: Math.abs(first + 1 - fault.line) }];
  });
}

/** Finds the end of `before` at `start`, regardless of the indentation of its other lines; null on a mismatch. */
function endOf({ before }: Fault, start: number, text: string): number | null {
  const [head = "", ...rest] = before.split("\n");
  if (!text.startsWith(head, start)) return null;
  let end = start + head.length;
  for (const line of rest) {
    const lineStart = end + 1;
    const indented = lineStart + indentation(text.slice(lineStart, text.indexOf("\n", lineStart)));
    if (text[end] !== "\n" || !text.startsWith(line.trimStart(), indented)) return null;
    end = indented + line.trimStart().length;
  }
  return end;
}

function context(lines: readonly string[]): string[] {
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .slice(0, CONTEXT_LINES);
}

/** Similarity of the lines on one side: near lines count more than far ones, even with added lines in between. */
function similarity(expected: readonly string[], found: readonly string[]): number {
  return expected.reduce((sum, line, index) => {
    const position = found.indexOf(line);
    return position === -1 ? sum : sum + CONTEXT_LINES - Math.max(index, position);
  }, 0);
}

function indentation(line: string): number {
  return line.length - line.trimStart().length;
}
