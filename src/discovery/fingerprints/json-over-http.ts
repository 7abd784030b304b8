// Fingerprints of programs that identify themselves in JSON over HTTP: they differ only in path and reader.

import type { Fingerprint } from "./fingerprint.ts";
import { getRequest, type HttpResponse, parseHttpResponse } from "./http-response.ts";
import { decodedText, identified } from "./service-text.ts";

interface JsonOverHttp {
  readonly name: string;
  readonly ports: readonly number[];
  readonly transport: "Tcp" | "Tls";
  readonly path: string;
  readonly definition: string;
  /** Service name; null if another program responded. @param body null if not a JSON object */
  readonly nameIn: (body: Record<string, unknown> | null, response: HttpResponse) => string | null;
}

export function jsonOverHttp({ name, ports, transport, path, definition, nameIn }: JsonOverHttp): Fingerprint {
  return {
    name,
    ports,
    transport,
    request: ({ host }) => getRequest(host, path),
    read: ({ bytes, isComplete }) => {
      const response = parseHttpResponse(bytes, isComplete);
      if (response === "More" || response === null) return response ?? "Other";
      if (!response.isBodyComplete) return "More";
      const found = nameIn(objectIn(response.body), response);
      return found === null ? "Other" : identified(found, definition);
    },
  };
}

/** Appends the version to the label, if valid. */
export function withVersion(label: string, version: unknown): string {
  return typeof version === "string" && /^v?\d[\w.+-]{0,39}$/.test(version) ? `${label} ${version}` : label;
}

export function objectOf(value: unknown): Record<string, unknown> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

function objectIn(body: Uint8Array): Record<string, unknown> | null {
  try {
    return objectOf(JSON.parse(decodedText(body)));
  } catch {
    return null;
  }
}
