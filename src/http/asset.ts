// Static assets that do not change while the appliance runs: scripts, documents, pages. With a weak ETag, 304 and gzip.
// Independent of their contents.

import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { isNotModified } from "../schemas/entity-tags.ts";

/** A static asset in plain and compressed form. */
export interface Asset {
  readonly content: Uint8Array<ArrayBuffer> | Bun.BunFile;
  readonly gzipped: Uint8Array<ArrayBuffer>;
  readonly tag: string;
  readonly type: string;
}

const gzipAsync = promisify(gzip);

/** @param type media type, with charset if any */
export async function createAsset(bytes: Uint8Array<ArrayBuffer>, type: string): Promise<Asset> {
  const gzipped = await gzipAsync(bytes);
  return { content: bytes, gzipped: new Uint8Array(gzipped), tag: `"${Bun.hash(bytes).toString(36)}"`, type };
}

/** Keeps only the compressed form in memory: the file itself is part of the executable. */
export async function createFileAsset(path: string, type: string): Promise<Asset> {
  const file = Bun.file(path);
  return { ...(await createAsset(await file.bytes(), type)), content: file };
}

/** Cacheable, but revalidated on every request: an update of the appliance must not leave old pages in use. */
export function assetResponse(request: Request, asset: Asset, common: Record<string, string>): Response {
  // Weak (RFC 9110 section 8.8.1): the compressed form shares the tag.
  const headers = { ...common, "cache-control": "no-cache", etag: `W/${asset.tag}`, vary: "accept-encoding" };
  if (isNotModified(request.headers.get("if-none-match"), asset.tag))
    return new Response(null, { status: 304, headers });
  const typed = { ...headers, "content-type": asset.type };
  if (acceptsGzip(request.headers.get("accept-encoding")))
    return new Response(asset.gzipped, { headers: { ...typed, "content-encoding": "gzip" } });
  return new Response(asset.content, { headers: typed });
}

function acceptsGzip(header: string | null): boolean {
  return /(^|[,\s])(gzip|\*)(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(header ?? "");
}
