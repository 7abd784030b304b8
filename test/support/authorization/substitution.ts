// Id substitution in valid requests, one location at a time: an unused id, and ids that the caller cannot access. No
// assertions.

import type { JsonRecord } from "../appliance/factories.ts";
import type { SentRequest } from "./call-context.ts";
import { STANDARD } from "./contract.ts";
import type { Caller, Fixture, Site } from "./fixture.ts";

export interface Substitution {
  /** Location: `path`, `query network_id`, `body /tags/0`. */
  readonly location: string;
  /** The substituted id. */
  readonly id: string;
  /** Origin of the id: `nobody's`, `far's`, `foreign's`. */
  readonly origin: string;
  readonly request: SentRequest & { readonly path: string };
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Variants of a request with one id replaced, in groups by location, starting with the unused id. */
export function substitutions(
  fixture: Fixture,
  caller: Caller,
  request: SentRequest & { readonly path: string },
): Substitution[][] {
  const groups: Substitution[][] = [];
  const substitute = (
    location: string,
    id: string,
    withId: (other: string) => SentRequest & { readonly path: string },
  ) => {
    const others = hiddenCounterparts(fixture, caller, id);
    if (others.length > 0)
      groups.push(
        [{ id: unusedId(), origin: "nobody's" }, ...others].map((other) => ({
          location,
          ...other,
          request: withId(other.id),
        })),
      );
  };
  for (const match of request.path.matchAll(UUID)) {
    const before = request.path.slice(0, match.index);
    const name = before.includes("?") ? `query ${/([a-z_]+)=$/.exec(before)?.[1]}` : "path";
    substitute(name, match[0], (other) => ({
      ...request,
      path: before + other + request.path.slice(match.index + other.length),
    }));
  }
  for (const pointer of pointersOf(request.body, "")) {
    substitute(`body ${pointer}`, valueAt(request.body, pointer) as string, (other) => ({
      ...request,
      body: withValue(request.body, pointer, other),
    }));
  }
  return groups;
}

let last = 0;

function unusedId(): string {
  last += 1;
  return `01936f2e-0d5c-7d3a-9a3a-${last.toString(16).padStart(12, "0")}`;
}

/** Records of the same kind that are out of the caller's reach. */
function hiddenCounterparts(fixture: Fixture, caller: Caller, id: string): Array<{ id: string; origin: string }> {
  const kind = fixture.oracle.find(id)?.kind;
  if (kind === undefined) return [];
  return Object.values(fixture.sites)
    .map((site) => ({ id: idAtSite(fixture, site, kind), origin: `${site.name}'s` }))
    .filter((other, position, all) => {
      const record = fixture.oracle.find(other.id ?? "");
      return (
        record !== undefined &&
        !fixture.oracle.canSee(caller, record) &&
        all.findIndex(({ id }) => id === other.id) === position
      );
    }) as Array<{ id: string; origin: string }>;
}

function idAtSite(fixture: Fixture, site: Site, kind: string): string | undefined {
  if (kind === "organization") return site.organizationId;
  if (kind === "api_key") return fixture.ownerKeys[site.name === "foreign" ? "foreign" : "near"];
  const plural = Object.keys(STANDARD).find((path) => STANDARD[path]?.entity === kind);
  return plural === undefined ? undefined : site.records[plural]?.id;
}

/** JSON pointers to every id in a body, and in lists to those of the first and last item. */
function pointersOf(value: unknown, current: string): string[] {
  if (typeof value === "string") return new RegExp(`^${UUID.source}$`).test(value) ? [current] : [];
  if (value === null || typeof value !== "object") return [];
  const parts = Object.entries(value);
  return parts
    .filter((_, index) => !Array.isArray(value) || index === 0 || index === parts.length - 1)
    .flatMap(([name, child]) => pointersOf(child, `${current}/${name}`));
}

function valueAt(value: unknown, pointer: string): unknown {
  return pointer
    .split("/")
    .slice(1)
    .reduce((current, name) => (current as JsonRecord)[name], value);
}

function withValue(value: unknown, pointer: string, replacement: string): unknown {
  const copy = structuredClone(value);
  const names = pointer.split("/").slice(1);
  const last = names.pop();
  if (last === undefined) return replacement;
  (names.reduce((current, name) => (current as JsonRecord)[name], copy) as JsonRecord)[last] = replacement;
  return copy;
}
