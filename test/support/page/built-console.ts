// The console as one script and one style sheet, for pages shown in the test process. Built once per state of the
// sources, and cached under dist/.

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { writeForms } from "../../../scripts/console-forms.ts";

const ROOT = resolve(import.meta.dir, "../../..");
const SOURCES = join(ROOT, "src/console");
const CACHE_FOLDER = join(ROOT, "dist/console-page");

/** Inputs of the console. Its forms derive from the OpenAPI document, which derives from all sources. */
const INPUTS = ["src", "scripts/console-forms.ts", "test/support/page/built-console.ts", "bun.lock", "tsconfig.json"];

export interface BuiltConsole {
  /** In strict mode, without imports. */
  readonly script: string;
  /** Without nesting and imports. */
  readonly styles: string;
  /** The HTML document, without references to either. */
  readonly page: string;
}

let built: Promise<BuiltConsole> | undefined;

/** @throws Error with the bundler's messages */
export function builtConsole(): Promise<BuiltConsole> {
  built ??= read();
  return built;
}

async function read(): Promise<BuiltConsole> {
  const file = join(CACHE_FOLDER, `${fingerprint()}.json`);
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8"));
  const bundle = await build();
  mkdirSync(CACHE_FOLDER, { recursive: true });
  // Other processes may write the same file.
  const partial = `${file}.${process.pid}`;
  writeFileSync(partial, JSON.stringify(bundle));
  renameSync(partial, file);
  return bundle;
}

function fingerprint(): string {
  const hash = new Bun.CryptoHasher("sha1");
  for (const input of INPUTS) {
    const path = join(ROOT, input);
    const files = input.includes(".") ? [path] : filesBelow(path);
    for (const file of files) hash.update(`${file.slice(ROOT.length)}\n`).update(readFileSync(file));
  }
  return hash.digest("hex");
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|tsx|css|html|json)$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
}

async function build(): Promise<BuiltConsole> {
  await writeForms();
  const bundled = async (entry: string) => {
    const { success, outputs, logs } = await Bun.build({
      entrypoints: [join(SOURCES, entry)],
      target: "browser",
      format: "iife",
      define: { "process.env.NODE_ENV": JSON.stringify("production") },
      tsconfig: join(SOURCES, "tsconfig.json"),
      throw: false,
    });
    const [output] = outputs;
    if (!success || output === undefined)
      throw new Error(`cannot build the console.\n${logs.map((log) => Bun.inspect(log)).join("\n")}`);
    return output.text();
  };
  const page = readFileSync(join(SOURCES, "page.html"), "utf8");
  return {
    script: await bundled("main.tsx"),
    styles: await bundled("styles/main.css"),
    page: page.replaceAll(/^.*\{(?:icon|style|script)\}.*\n/gm, ""),
  };
}
