// Recipes in the contribution guide as data: the files that a recipe writes and changes, and its check. Every code
// block of a recipe is one of these.

import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "../../..");
const FOLDER = join(ROOT, ".github/recipes");
/** Ends a context line of which only the beginning must match. */
const ELLIPSIS = "…";

export interface Recipe {
  readonly name: string;
  readonly title: string;
  readonly steps: readonly Step[];
  /** Shell commands of the check. */
  readonly check: string;
}

/** A code block after a line that ends with the path of a file: a diff of that file, or the text of a new one. */
export interface Step {
  readonly path: string;
  readonly text: string;
  readonly isDiff: boolean;
}

/** The files of a checkout. */
export interface Files {
  /** Undefined for a missing file. */
  read(path: string): string | undefined;
  write(path: string, text: string): void;
  /** Names of the files in a directory. */
  list(folder: string): readonly string[];
}

export const RECIPES: readonly Recipe[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith(".md"))
  .sort()
  .map((file) => parseRecipe(file.replace(/\.md$/, ""), readFileSync(join(FOLDER, file), "utf8")));

/** @throws Error for a code block that is neither a step nor the check */
export function parseRecipe(name: string, markdown: string): Recipe {
  const steps: Step[] = [];
  const checks: string[] = [];
  for (const block of markdown.matchAll(/(?:^|\n)(.*)\n+( *)```(\w+)\n([\s\S]*?)\n\2```(?=\n)/g)) {
    const [, previous = "", indent = "", language, body = ""] = block;
    const text = body.replaceAll(new RegExp(`^${indent}`, "gm"), "");
    const path = /`([\w./-]+)`:$/.exec(previous)?.[1];
    if (language === "sh") checks.push(text);
    else if (path === undefined) throw new Error(`${name}: no path before the code block "${text.slice(0, 60)}"`);
    else steps.push({ path, text, isDiff: language === "diff" });
  }
  const [check] = checks;
  if (check === undefined || checks.length > 1) throw new Error(`${name}: ${checks.length} checks instead of one`);
  return { name, title: /^# (.*)$/m.exec(markdown)?.[1] ?? name, steps, check };
}

/**
 * Applies the steps in order. Replaces `NNNN` with the number of the next migration, with leading zeros in its file
 * name, and `KK` with the next free kind code.
 * @returns the paths of all written files
 * @throws Error for a step that does not fit the files
 */
export function applyRecipe(recipe: Recipe, files: Files): string[] {
  const next = Math.max(...files.list("migrations").map((file) => Number.parseInt(file, 10))) + 1;
  const kindCodes = files
    .list("src/resources")
    .map((file) => /^ {2}code: (\d+),$/m.exec(files.read(`src/resources/${file}`) ?? "")?.[1] ?? 0);
  const fillPlaceholders = (text: string) =>
    text
      .replaceAll("NNNN_", `${next}_`.padStart(5, "0"))
      .replaceAll("NNNN", String(next))
      .replaceAll(/\bKK\b/g, String(Math.max(...kindCodes.map(Number)) + 1));
  const written = new Set<string>();
  for (const step of recipe.steps) {
    const path = fillPlaceholders(step.path);
    const previous = files.read(path);
    if (step.isDiff ? previous === undefined : previous !== undefined)
      throw new Error(`${recipe.name}: ${path} ${step.isDiff ? "does not exist" : "already exists"}`);
    files.write(
      path,
      step.isDiff ? applyDiff(previous ?? "", fillPlaceholders(step.text), path) : `${fillPlaceholders(step.text)}\n`,
    );
    written.add(path);
  }
  return [...written];
}

/**
 * Applies a diff without line numbers. The context of a hunk must occur once in the file, or is the first occurrence
 * after the line that `@@ line @@` quotes. A line that ends in `…` matches any line with that beginning.
 * @throws Error for a hunk that does not fit
 */
export function applyDiff(text: string, diff: string, path: string): string {
  const lines = text.split("\n");
  for (const { after, hunk } of hunksOf(diff)) {
    const old = hunk.filter((line) => !line.startsWith("+")).map(contentOf);
    const matches = (line: string | undefined, expected: string) =>
      expected.endsWith(ELLIPSIS) ? line?.startsWith(expected.slice(0, -1)) : line === expected;
    const from = after === null ? 0 : lines.findIndex((line) => line.trim() === after) + 1;
    if (after !== null && from === 0) throw new Error(`${path} has no line "${after}"`);
    const positions = lines.flatMap((_, position) =>
      position >= from && old.every((line, offset) => matches(lines[position + offset], line)) ? [position] : [],
    );
    const [position] = positions;
    if (position === undefined) throw new Error(`${path} does not contain:\n${old.join("\n")}`);
    if (after === null && positions.length > 1) throw new Error(`${path} contains more than once:\n${old.join("\n")}`);
    const removed = lines.splice(position, old.length);
    const replacement: string[] = [];
    for (const line of hunk) {
      const original = line.startsWith("+") ? undefined : removed.shift();
      if (!line.startsWith("-")) replacement.push(original ?? contentOf(line));
    }
    lines.splice(position, 0, ...replacement);
  }
  return lines.join("\n");
}

function hunksOf(diff: string): ReadonlyArray<{ readonly after: string | null; readonly hunk: readonly string[] }> {
  const hunks: Array<{ after: string | null; hunk: string[] }> = [];
  for (const line of diff.split("\n")) {
    const quoted = /^@@(?: (.*))? @@$/.exec(line);
    if (quoted !== null) hunks.push({ after: quoted[1] ?? null, hunk: [] });
    else if (hunks.length === 0) hunks.push({ after: null, hunk: [line] });
    else hunks.at(-1)?.hunk.push(line);
  }
  return hunks;
}

function contentOf(line: string): string {
  return line.slice(1);
}
