// Create bodies from the examples of the operations, so that every kind takes part in the tests of all kinds.

import { RESOURCES } from "../../../src/records/resources.ts";
import type { TestAppliance } from "../appliance/appliance.ts";
import type { Wire } from "../appliance/factories.ts";

/**
 * Body of a record distinct from the example's.
 * @param path of its resource, below /api/v1
 * @param ids of referenced records, by the path of their resource
 */
export function exampleBody(
  { surface }: Pick<TestAppliance, "surface">,
  path: string,
  ids: Readonly<Record<string, string | undefined>>,
  name: string,
): Wire {
  const route = surface.routes.find((each) => each.method === "POST" && each.path === `/api/v1/${path}`);
  const { id: _taken, ...body } = { ...(route?.operation.example.body as Wire | undefined) };
  for (const field of Object.keys(body)) {
    const named = RESOURCES.find(({ names }) => names !== undefined && Object.hasOwn(names.columns, field));
    if (named !== undefined) body[field] = Array.isArray(body[field]) ? [ids[named.path]] : ids[named.path];
  }
  // Unique fields change too; a number may be bounded.
  const unique = RESOURCES.find((each) => each.path === path)?.kind.unique?.field;
  for (const field of new Set(["name", unique ?? "name"]))
    if (Object.hasOwn(body, field)) body[field] = typeof body[field] === "number" ? numberOf(name) : name;
  if (unique === "key") body.key = `k_${name.toLowerCase().replace(/[^a-z0-9]+/g, "_")}`;
  return body;
}

/** Below 1,000: the number at the end of a name, or a stable one for the name. */
function numberOf(name: string): number {
  return (Number(/\d+$/.exec(name)?.[0] ?? Bun.hash.crc32(name)) % 999) + 1;
}

/** Kinds that the API can create, referenced kinds first. */
export const CREATABLE = [...RESOURCES]
  .sort((a, b) => a.kind.code - b.kind.code)
  .filter(({ path }) => path !== "discovery/ignored");
