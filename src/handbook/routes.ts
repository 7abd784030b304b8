// Routes of /handbook: documentation for operators and users, with search. No credentials: it contains no inventory
// data.

import { ownValue } from "../base/fields.ts";
import { type Asset, assetResponse, createAsset } from "../http/asset.ts";
import { pageHeaders } from "../http/request.ts";
import type { Surface } from "../http/surface.ts";
import { HANDBOOK_PATHS, handbook } from "./handbook.ts";

/** No inline code and no other hosts. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** /handbook and the files of its pages. */
export function handbookRoutes<Actor, Access>(surface: Surface<Actor, Access>): void {
  const assets = new Map<string, Promise<Asset>>();
  const assetAt = (path: string) => {
    const file = ownValue(handbook().files, path) ?? { type: "text/plain", text: "" };
    const bytes = "text" in file ? new TextEncoder().encode(file.text) : Uint8Array.fromBase64(file.base64);
    const asset = assets.get(path) ?? createAsset(bytes, file.type);
    assets.set(path, asset);
    return asset;
  };
  for (const path of HANDBOOK_PATHS) {
    surface.serve(path, async (request, common) => {
      const asset = await assetAt(path);
      const isPage = asset.type.startsWith("text/html");
      const headers = isPage ? { ...common, ...pageHeaders(request), "content-security-policy": PAGE_POLICY } : common;
      return assetResponse(request, asset, headers);
    });
  }
}
