// Common start of the measuring programs, and output of their results.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

type Setting = number | string | boolean;
type Told<Defaults extends Record<string, Setting>> = {
  readonly [Name in keyof Defaults]: Defaults[Name] extends number
    ? number
    : Defaults[Name] extends string
      ? string
      : boolean;
};

/** Settings from the command line, `--depth-hosts 400`, with these defaults. @throws for unknown ones */
export function settings<Defaults extends Record<string, Setting>>(
  defaults: Defaults,
  args = process.argv.slice(2),
): Told<Defaults> {
  const options = Object.entries(defaults).map(([name, value]) => [
    name,
    typeof value === "boolean" ? { type: "boolean", default: value } : { type: "string", default: String(value) },
  ]);
  const told = Object.entries(parseArgs({ args, options: Object.fromEntries(options) }).values);
  const values = told.map(([name, value]) => [name, typeof defaults[name] === "number" ? Number(value) : value]);
  return Object.fromEntries(values) as Told<Defaults>;
}

/** The given folder, whose contents are kept and reused; or a temporary one, removed at exit. */
export function folder(told = ""): string {
  if (told !== "") return told;
  const made = mkdtempSync(join(tmpdir(), "netledger-bench-"));
  process.on("exit", () => rmSync(made, { recursive: true, force: true }));
  return made;
}

export function say(line: string): void {
  console.log(line);
}

/** A table row: a name in this many columns, and values in columns of nine. */
export function sayRow(name: string, nameWidth: number, cells: readonly string[], cellWidth = 9): void {
  say(name.padEnd(nameWidth) + cells.map((cell) => cell.padStart(cellWidth)).join(""));
}
