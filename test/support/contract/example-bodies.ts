// Bodies of creates made from the examples of their operations: what no test describes by hand takes part all the same
// in the tests that all kinds of records are put to.

import { RESOURCES } from "../../../src/records/resources.ts";
import type { TestAppliance } from "../appliance/appliance.ts";
import type { Wire } from "../appliance/factories.ts";

/**
 * The body of another record than the example's.
 * @param path of its resource, below /api/v1
 * @param ids what it is to name, by the path of what it names
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
  // What no two records may have in common is another one as well; a number may be bounded.
  const unique = RESOURCES.find((each) => each.path === path)?.kind.unique?.field;
  for (const field of new Set(["name", unique ?? "name"]))
    if (Object.hasOwn(body, field)) body[field] = typeof body[field] === "number" ? numberOf(name) : name;
  if (unique === "key") body.key = `k_${name.toLowerCase().replace(/[^a-z0-9]+/g, "_")}`;
  return body;
}

/** Below 1,000: what a name ends with, or the same for the same name. */
function numberOf(name: string): number {
  return (Number(/\d+$/.exec(name)?.[0] ?? Bun.hash.crc32(name)) % 999) + 1;
}

/** What records of may be made through the API, such that what is referred to stands before what refers to it. */
export const CREATABLE = [...RESOURCES]
  .sort((a, b) => a.kind.code - b.kind.code)
  .filter(({ path }) => path !== "discovery/ignored");
