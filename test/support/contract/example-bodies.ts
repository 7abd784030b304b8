// Request bodies for POST from the operations' OpenAPI examples, so that tests of all kinds cover every kind.

import { RESOURCES } from "../../../src/records/resources.ts";
import type { TestAppliance } from "../appliance/appliance.ts";
import type { JsonRecord } from "../appliance/factories.ts";

/**
 * Request body for POST that differs from the example's record in all unique fields.
 * @param path path of the resource below /api/v1
 * @param ids ids of referenced records, by the path of their resource
 */
export function exampleBody(
  { surface }: Pick<TestAppliance, "surface">,
  path: string,
  ids: Readonly<Record<string, string | undefined>>,
  name: string,
): JsonRecord {
  const route = surface.routes.find((other) => other.method === "POST" && other.path === `/api/v1/${path}`);
  const { id: _taken, ...body } = { ...(route?.operation.example.body as JsonRecord | undefined) };
  for (const field of Object.keys(body)) {
    const resource = RESOURCES.find(({ names }) => names !== undefined && Object.hasOwn(names.columns, field));
    if (resource !== undefined) body[field] = Array.isArray(body[field]) ? [ids[resource.path]] : ids[resource.path];
  }
  // Unique fields change too; a number may be bounded.
  const unique = RESOURCES.find((resource) => resource.path === path)?.kind.unique?.field;
  for (const field of new Set(["name", unique ?? "name"]))
    if (Object.hasOwn(body, field)) body[field] = typeof body[field] === "number" ? numberOf(name) : name;
  if (unique === "key") body.key = `k_${name.toLowerCase().replace(/[^a-z0-9]+/g, "_")}`;
  return body;
}

/** Number from 1 to 999 for a name, from its trailing digits or else its checksum. */
function numberOf(name: string): number {
  return (Number(/\d+$/.exec(name)?.[0] ?? Bun.hash.crc32(name)) % 999) + 1;
}

/** Kinds that the API can create, referenced kinds first. */
export const CREATABLE = [...RESOURCES]
  .sort((a, b) => a.kind.code - b.kind.code)
  .filter(({ path, isReadOnly }) => path !== "discovery/ignored" && isReadOnly !== true);
