// Settings and output shared by the benchmark programs.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

type Setting = number | string | boolean;
type Settings<Defaults extends Record<string, Setting>> = {
  readonly [Name in keyof Defaults]: Defaults[Name] extends number
    ? number
    : Defaults[Name] extends string
      ? string
      : boolean;
};

/** Parses settings from the command line (`--depth-hosts 400`). @throws Error for an unknown setting */
export function settings<Defaults extends Record<string, Setting>>(
  defaults: Defaults,
  args = process.argv.slice(2),
): Settings<Defaults> {
  const options = Object.entries(defaults).map(([name, value]) => [
    name,
    typeof value === "boolean" ? { type: "boolean", default: value } : { type: "string", default: String(value) },
  ]);
  const given = Object.entries(parseArgs({ args, options: Object.fromEntries(options) }).values);
  const values = given.map(([name, value]) => [name, typeof defaults[name] === "number" ? Number(value) : value]);
  return Object.fromEntries(values) as Settings<Defaults>;
}

/** Returns the given directory, whose contents are kept and reused, or a temporary one, removed at exit. */
export function folder(given = ""): string {
  if (given !== "") return given;
  const temporary = mkdtempSync(join(tmpdir(), "netledger-bench-"));
  process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));
  return temporary;
}

export function printLine(line: string): void {
  console.log(line);
}

/** Prints a table row: the name padded to `nameWidth`, then the cells padded to `cellWidth`. */
export function printRow(name: string, nameWidth: number, cells: readonly string[], cellWidth = 9): void {
  printLine(name.padEnd(nameWidth) + cells.map((cell) => cell.padStart(cellWidth)).join(""));
}
