// Console build: writes dist/console.pack, which holds the page and all its assets uncompressed and compressed with
// Brotli and gzip. `--watch` rebuilds it on every source change. Independent of the console's content.

import { mkdirSync, readFileSync, renameSync, watch, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { PAGE_PATHS } from "../src/console/url/page-paths.ts";
import { CONSOLE_ASSETS, type ConsoleIndex, packConsole } from "../src/http/console-pack.ts";
import { writeForms } from "./console-forms.ts";

const root = resolve(import.meta.dir, "..");
const SOURCES = join(root, "src/console");
/** Pack that `--console` takes and the executable embeds. */
export const CONSOLE_PACK = join(root, "dist/console.pack");

/**
 * Modules needed by this many pages move to the first script, unless they are large. All others that several pages need
 * share one file: the bundler would create one per set of pages, of a hundred bytes each, and each of them a request.
 */
const SHARED_BY_PAGES = 7;
const SHARED_MAX_BYTES = 4_000;
/** The same limit for modules of forms, which many pages contain but none needs at first. */
const FORM_MAX_BYTES = 1_000;

/** Delay of a rebuild: editors save several files at once, some of them in two steps. */
const SETTLE_MS = 50;

interface Metafile {
  readonly outputs: Readonly<
    Record<
      string,
      {
        /** Source path; only for entry points and dynamically loaded modules. */
        readonly entryPoint?: string;
        readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>>;
        readonly imports: readonly { readonly path: string; readonly kind: string }[];
      }
    >
  >;
}

interface BuiltConsole {
  /** Bundler's metafile, for the bill of materials. */
  readonly metafile: Metafile;
  /** Size of each file with Brotli, by name. */
  readonly sizes: Readonly<Record<string, number>>;
  /** Scripts that every page loads at its start: the first script and its static imports. */
  readonly first: readonly string[];
  /** Number of additional scripts per dynamically loaded module, by its source path. */
  readonly further: Readonly<Record<string, number>>;
}

/**
 * Builds the console and writes the pack atomically: a reader of the previous pack can read it completely.
 * @throws Error with the bundler's messages
 */
export async function buildConsole(): Promise<BuiltConsole> {
  await writeForms();
  const separate = await bundle(new Map());
  const result = await bundle(sharedModules(separate.metafile));
  const outputs = await Promise.all(
    result.outputs.map(async (output) => ({
      name: basename(output.path),
      isEntry: output.kind === "entry-point",
      type: output.type.replace(";charset", "; charset"),
      bytes: new Uint8Array(await output.arrayBuffer()),
    })),
  );
  const icon = new Uint8Array(readFileSync(join(SOURCES, "icon.svg")));
  outputs.push({ name: `icon-${Bun.hash(icon).toString(36)}.svg`, isEntry: false, type: "image/svg+xml", bytes: icon });
  const urlOf = (pattern: RegExp) => {
    // Chunks shared by several pages have the name of an entry too.
    const output = outputs.find(({ name, isEntry }) => pattern.test(name) && (isEntry || !name.endsWith(".js")));
    if (output === undefined) throw new Error(`the console has no file that matches ${pattern}.`);
    return CONSOLE_ASSETS + output.name;
  };
  const first = staticImports(result.metafile, basename(urlOf(/^main-.*\.js$/)));
  const page = readFileSync(join(SOURCES, "page.html"), "utf8")
    .replace("{style}", urlOf(/^main-.*\.css$/))
    .replace("{script}", urlOf(/^main-.*\.js$/))
    .replace("{icon}", urlOf(/^icon-/))
    // Preloaded together: otherwise the browser discovers each one only in its importer.
    .replace("{preloads}", () =>
      first
        .slice(1)
        .map((name) => `<link rel="modulepreload" href="${CONSOLE_ASSETS}${name}">\n`)
        .join(""),
    );
  const files = [{ name: "", type: "text/html; charset=utf-8", bytes: new TextEncoder().encode(page) }, ...outputs].map(
    ({ name, type, bytes }) => ({
      name,
      type,
      tag: `"${Bun.hash(bytes).toString(36)}"`,
      plain: bytes,
      brotli: new Uint8Array(brotliCompressSync(bytes)),
      gzip: new Uint8Array(gzipSync(bytes, { level: 9 })),
    }),
  );
  const pages: ConsoleIndex["pages"] = PAGE_PATHS;
  mkdirSync(join(root, "dist"), { recursive: true });
  writeFileSync(`${CONSOLE_PACK}.new`, packConsole(pages, files));
  renameSync(`${CONSOLE_PACK}.new`, CONSOLE_PACK);
  return {
    metafile: result.metafile,
    sizes: Object.fromEntries(files.map(({ name, brotli }) => [name, brotli.length])),
    first,
    further: furtherScripts(result.metafile, first),
  };
}

/** @param added by module: others to load with it although it does not use them; all as paths */
async function bundle(added: ReadonlyMap<string, readonly string[]>) {
  const result = await Bun.build({
    entrypoints: [join(SOURCES, "main.tsx"), join(SOURCES, "styles/main.css")],
    target: "browser",
    minify: true,
    splitting: true,
    metafile: true,
    publicPath: CONSOLE_ASSETS,
    naming: { entry: "[name]-[hash].[ext]", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
    define: { "process.env.NODE_ENV": JSON.stringify("production") },
    tsconfig: join(SOURCES, "tsconfig.json"),
    throw: false,
    plugins: [
      {
        name: "added",
        setup: (build) => {
          build.onLoad({ filter: /\.tsx?$/ }, async ({ path }) => {
            const imports = added.get(path)?.map((module) => `import ${JSON.stringify(module)};\n`) ?? [];
            const contents = imports.join("") + (await Bun.file(path).text());
            return { contents, loader: path.endsWith("x") ? "tsx" : "ts" };
          });
        },
      },
    ],
  });
  if (!result.success || result.metafile === undefined)
    throw new Error(`the console was not built.\n${result.logs.map((log) => Bun.inspect(log)).join("\n")}`);
  return { outputs: result.outputs, metafile: result.metafile as Metafile };
}

/** Modules to load together because several pages need them: those to add to the first script, and to each page. */
function sharedModules(metafile: Metafile): Map<string, readonly string[]> {
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]));
  const scripts = new Map<string, readonly string[]>();
  for (const [name, { entryPoint }] of outputs)
    if (entryPoint !== undefined && name.endsWith(".js"))
      scripts.set(resolve(entryPoint), staticImports(metafile, name));
  const main = join(SOURCES, "main.tsx");
  const first = scripts.get(main) ?? [];
  scripts.delete(main);
  const pages = new Map<string, number>();
  for (const file of [...scripts.values()].flat()) pages.set(file, (pages.get(file) ?? 0) + 1);
  const shared = [...pages]
    .filter(([file]) => outputs.get(file)?.entryPoint === undefined && !first.includes(file))
    .flatMap(([file, count]) =>
      Object.entries(outputs.get(file)?.inputs ?? {}).map(([path, { bytesInOutput }]) => {
        const maxBytes = path.includes("src/console/forms/") ? FORM_MAX_BYTES : SHARED_MAX_BYTES;
        return { file, path: resolve(path), isInFirst: count >= SHARED_BY_PAGES && bytesInOutput <= maxBytes };
      }),
    );
  const others = shared.filter(({ isInFirst }) => !isInFirst);
  const pathsOf = (modules: typeof shared) => modules.map(({ path }) => path);
  const added = new Map([[main, pathsOf(shared.filter(({ isInFirst }) => isInFirst))]]);
  for (const [page, files] of scripts)
    if (others.some(({ file }) => files.includes(file))) added.set(page, pathsOf(others));
  return added;
}

function furtherScripts(metafile: Metafile, first: readonly string[]): Record<string, number> {
  const further: Record<string, number> = {};
  for (const [path, { entryPoint }] of Object.entries(metafile.outputs))
    if (entryPoint !== undefined && path.endsWith(".js"))
      further[entryPoint] = staticImports(metafile, basename(path)).filter((name) => !first.includes(name)).length;
  return further;
}

/** A script and its static imports, including indirect ones. */
function staticImports({ outputs }: Metafile, script: string): string[] {
  const imports = new Map(Object.entries(outputs).map(([path, output]) => [basename(path), output.imports]));
  const found = new Set([script]);
  for (const name of found)
    for (const { path, kind } of imports.get(name) ?? []) if (kind !== "dynamic-import") found.add(basename(path));
  return [...found];
}

if (import.meta.main) {
  const build = async () => {
    const started = performance.now();
    try {
      const { sizes, first } = await buildConsole();
      const main = first.reduce((sum, name) => sum + (sizes[name] ?? 0), 0);
      const tookMs = Math.round(performance.now() - started);
      console.log(`console: built in ${tookMs} ms; ${(main / 1000).toFixed(1)} kB initially (Brotli)`);
    } catch (error) {
      console.error(error instanceof Error ? error.message : error);
      process.exitCode = 1;
    }
  };
  await build();
  if (process.argv.includes("--watch")) {
    let timer: Timer | undefined;
    watch(SOURCES, { recursive: true }, () => {
      clearTimeout(timer);
      timer = setTimeout(() => void build(), SETTLE_MS);
    });
  }
}
