// Console at `/`: one page for all its routes, and its files. No credentials needed: they contain no inventory data.
// Scripts that request `/` are redirected to the API documentation.

import { closeSync } from "node:fs";
import { openRegular } from "../base/regular-file.ts";
import { isNotModified } from "../schemas/entity-tags.ts";
import { CONSOLE_ASSETS, type ConsoleFile, readConsolePack } from "./console-pack.ts";
import { preferredCoding } from "./content-coding.ts";
import { errorResponse } from "./errors.ts";
import { pageHeaders, pathOf } from "./request.ts";
import { pathNotFound, type Surface } from "./surface.ts";

/** No inline code, no other hosts, and no text turned into markup or script (Trusted Types). */
export const CONSOLE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const CODED = { br: "brotli", gzip: "gzip" } as const;
const CODINGS = ["br", "gzip"] as const;

/** Source of the console. */
export interface Console {
  /** Routes of its pages, including `/`. */
  readonly pages: readonly string[];
  /** @param name below CONSOLE_ASSETS; empty for the page. @returns null if there is no such file */
  file(name: string): Promise<ConsoleFile | null>;
}

/** The console embedded in the executable; null if not running from one. */
export async function embeddedConsole(): Promise<Console | null> {
  const pack = Bun.embeddedFiles.find((file) => "name" in file && String(file.name).endsWith(".pack"));
  if (pack === undefined) return null;
  const { pages, files } = await readConsolePack(pack);
  return { pages, file: async (name) => files.get(name) ?? null };
}

/** The console from a file, which is reread when it changes. @throws Error if there is no such file at the start */
export async function loadConsole(path: string): Promise<Console> {
  const read = async () => {
    // Must be a regular file, since it is read piece by piece: a read from a pipe would never return.
    closeSync(openRegular(path));
    const pack = Bun.file(path);
    return { changed: pack.lastModified, ...(await readConsolePack(pack)) };
  };
  let current = await read();
  return {
    pages: current.pages,
    async file(name) {
      if (Bun.file(path).lastModified !== current.changed) current = await read();
      return current.files.get(name) ?? null;
    },
  };
}

/**
 * Routes of the console's pages and files.
 * @param documentation redirect target of `/` for clients that do not accept HTML
 */
export function consolePages<Actor, Access>(
  surface: Surface<Actor, Access>,
  source: Console,
  documentation: string,
): void {
  for (const path of source.pages) {
    surface.serve(path, (request, common) => {
      const headers = { ...common, vary: "accept, accept-encoding" };
      if (wantsPage(request)) return pageResponse(source, request, headers, 200);
      // Scripts keep getting the documentation.
      if (path !== "/") return errorResponse(pathNotFound(pathOf(request.url)), headers);
      return new Response(null, { status: 302, headers: { ...headers, location: documentation } });
    });
  }
  surface.serve(`${CONSOLE_ASSETS}:name`, async (request, common) => {
    const name = pathOf(request.url).slice(CONSOLE_ASSETS.length);
    const file = name === "" ? null : await source.file(name);
    // A page from before an update requests files that no longer exist; on 404 it reloads itself.
    if (file === null) return new Response(null, { status: 404, headers: common });
    // The name contains a content hash.
    return fileResponse(request, file, { ...common, "cache-control": "public, max-age=31536000, immutable" }, 200);
  });
  surface.servePages((request, common) => {
    const path = pathOf(request.url);
    if (!["GET", "HEAD"].includes(request.method) || !wantsPage(request) || path.startsWith("/api/")) return null;
    return pageResponse(source, request, common, 404);
  });
}

/** Whether the client is a browser opening a page. */
function wantsPage(request: Request): boolean {
  return /(^|[,\s])text\/html\b/i.test(request.headers.get("accept") ?? "");
}

async function pageResponse(
  source: Console,
  request: Request,
  common: Record<string, string>,
  status: 200 | 404,
): Promise<Response> {
  const page = await source.file("");
  if (page === null) throw new Error("a console without a page");
  const headers = {
    ...common,
    ...pageHeaders(request),
    "cache-control": "no-cache",
    "content-security-policy": CONSOLE_POLICY,
  };
  return fileResponse(request, page, headers, status);
}

function fileResponse(request: Request, file: ConsoleFile, common: Record<string, string>, status: number): Response {
  // Weak (RFC 9110 section 8.8.1): all codings share the tag.
  const headers = { ...common, etag: `W/${file.tag}` };
  if (status === 200 && isNotModified(request.headers.get("if-none-match"), file.tag))
    return new Response(null, { status: 304, headers });
  const coding = preferredCoding(request.headers.get("accept-encoding"), CODINGS);
  const typed = { ...headers, "content-type": file.type };
  if (coding === null) return new Response(file.plain, { status, headers: typed });
  return new Response(file[CODED[coding]], { status, headers: { ...typed, "content-encoding": coding } });
}
