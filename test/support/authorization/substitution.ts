// Id substitution in valid requests, one place at a time: an unused id, and ids out of the caller's reach. No
// assertions.

import type { Wire } from "../appliance/factories.ts";
import type { Sent } from "./asking.ts";
import { STANDARD } from "./contract.ts";
import type { Caller, Place, World } from "./world.ts";

export interface Substitution {
  /** Location: `path`, `query network_id`, `body /tags/0`. */
  readonly place: string;
  /** The substituted id. */
  readonly id: string;
  /** Origin of the id: `nobody's`, `far's`, `foreign's`. */
  readonly whose: string;
  readonly sent: Sent & { readonly path: string };
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Every request with one id replaced; in groups of three, starting with the unused id. */
export function substitutions(world: World, caller: Caller, sent: Sent & { readonly path: string }): Substitution[][] {
  const groups: Substitution[][] = [];
  const exchange = (place: string, id: string, into: (other: string) => Sent & { readonly path: string }) => {
    const others = hiddenLike(world, caller, id);
    if (others.length > 0)
      groups.push(
        [{ id: neverUsed(), whose: "nobody's" }, ...others].map((other) => ({ place, ...other, sent: into(other.id) })),
      );
  };
  for (const match of sent.path.matchAll(UUID)) {
    const before = sent.path.slice(0, match.index);
    const name = before.includes("?") ? `query ${/([a-z_]+)=$/.exec(before)?.[1]}` : "path";
    exchange(name, match[0], (other) => ({
      ...sent,
      path: before + other + sent.path.slice(match.index + other.length),
    }));
  }
  for (const pointer of pointersOf(sent.body, "")) {
    exchange(`body ${pointer}`, valueAt(sent.body, pointer) as string, (other) => ({
      ...sent,
      body: withValue(sent.body, pointer, other),
    }));
  }
  return groups;
}

let last = 0;

function neverUsed(): string {
  last += 1;
  return `01936f2e-0d5c-7d3a-9a3a-${last.toString(16).padStart(12, "0")}`;
}

/** Records of the same kind that this caller does not reach. */
function hiddenLike(world: World, caller: Caller, id: string): Array<{ id: string; whose: string }> {
  const kind = world.oracle.find(id)?.kind;
  if (kind === undefined) return [];
  return Object.values(world.places)
    .map((place) => ({ id: ofKind(world, place, kind), whose: `${place.name}'s` }))
    .filter((other, position, all) => {
      const record = world.oracle.find(other.id ?? "");
      return (
        record !== undefined &&
        !world.oracle.sees(caller, record) &&
        all.findIndex((each) => each.id === other.id) === position
      );
    }) as Array<{ id: string; whose: string }>;
}

function ofKind(world: World, place: Place, kind: string): string | undefined {
  if (kind === "organization") return place.organizationId;
  if (kind === "api_key") return world.ownersKeys[place.name === "foreign" ? "foreign" : "near"];
  const plural = Object.keys(STANDARD).find((each) => STANDARD[each]?.entity === kind);
  return plural === undefined ? undefined : place.records[plural]?.id;
}

/** JSON pointers to every id in a body; for lists, to those of the first and the last item. */
function pointersOf(value: unknown, at: string): string[] {
  if (typeof value === "string") return new RegExp(`^${UUID.source}$`).test(value) ? [at] : [];
  if (value === null || typeof value !== "object") return [];
  const parts = Object.entries(value);
  return parts
    .filter((_, place) => !Array.isArray(value) || place === 0 || place === parts.length - 1)
    .flatMap(([name, each]) => pointersOf(each, `${at}/${name}`));
}

function valueAt(value: unknown, pointer: string): unknown {
  return pointer
    .split("/")
    .slice(1)
    .reduce((at, name) => (at as Wire)[name], value);
}

function withValue(value: unknown, pointer: string, replacement: string): unknown {
  const copy = structuredClone(value);
  const names = pointer.split("/").slice(1);
  const last = names.pop();
  if (last === undefined) return replacement;
  (names.reduce((at, name) => (at as Wire)[name], copy) as Wire)[last] = replacement;
  return copy;
}
