// What every measuring program begins with, and how it prints what it measured.

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

/** What the command line says of these settings, `--depth-hosts 400`, and otherwise these values. @throws for others */
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

/** The folder that was told: what is built stays there, and is taken again; or one that goes with the program. */
export function folder(told = ""): string {
  if (told !== "") return told;
  const made = mkdtempSync(join(tmpdir(), "netledger-bench-"));
  process.on("exit", () => rmSync(made, { recursive: true, force: true }));
  return made;
}

export function say(line: string): void {
  console.log(line);
}

/** A line of a table: a name in so many columns, and what was measured in columns of nine. */
export function sayRow(name: string, nameWidth: number, cells: readonly string[], cellWidth = 9): void {
  say(name.padEnd(nameWidth) + cells.map((cell) => cell.padStart(cellWidth)).join(""));
}
