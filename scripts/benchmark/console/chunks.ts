// File sizes in the console pack: scripts that every page loads initially, and scripts loaded on demand.

import { basename } from "node:path";
import { readConsolePack } from "../../../src/http/console-pack.ts";

export interface ChunkSizes {
  /** Scripts that every page loads initially, in bytes with Brotli. */
  readonly main: number;
  readonly styles: number;
  /** Scripts loaded on demand, largest first, in bytes with Brotli. */
  readonly lazy: readonly number[];
}

export async function chunkSizes(pack: Blob): Promise<ChunkSizes> {
  const { files } = await readConsolePack(pack);
  const page = await files.get("")?.plain.text();
  const first = /src="([^"]+\.js)"/.exec(page ?? "")?.[1];
  if (first === undefined) throw new Error("the console page has no initial script");
  const initial = new Set([basename(first)]);
  for (const name of initial) {
    const text = (await files.get(name)?.plain.text()) ?? "";
    for (const imported of importsIn(text)) initial.add(basename(imported));
  }
  const scripts = [...files.values()].filter(({ name }) => name.endsWith(".js"));
  const sum = (all: readonly { brotli: Blob }[]) => all.reduce((total, { brotli }) => total + brotli.size, 0);
  return {
    main: sum(scripts.filter(({ name }) => initial.has(name))),
    styles: sum([...files.values()].filter(({ name }) => name.endsWith(".css"))),
    lazy: scripts
      .filter(({ name }) => !initial.has(name))
      .map(({ brotli }) => brotli.size)
      .sort((a, b) => b - a),
  };
}

/** Static imports of a bundled script; dynamic imports, which are calls, are not matched. */
function importsIn(script: string): string[] {
  return [...script.matchAll(/\b(?:from|import)\s*"([^"]+\.js)"/g)].map(([, name]) => name as string);
}
