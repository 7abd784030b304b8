// Meaning of filters in plain code: a tree of comparisons, evaluated on a record. Must not know the filter syntax, nor
// the search of the appliance.

import type { Wire } from "../appliance/factories.ts";
import { type AskedKind, isWithinReach, ledTo, type Scene, type Version, valuesIn } from "./filter-scene.ts";

/** A field: the references to its record, and its path there. */
export interface AskedField {
  readonly through: readonly string[];
  /** Empty for the queried record itself. */
  readonly path: readonly string[];
}

export type Operator = "=" | "<" | "<=" | ">" | ">=" | ":";

export type Ask =
  | { readonly is: "all" | "any"; readonly of: readonly Ask[] }
  | { readonly is: "not"; readonly of: Ask }
  | { readonly is: "compared"; readonly field: AskedField; readonly holds: (value: unknown) => boolean }
  | { readonly is: "there"; readonly field: AskedField }
  | { readonly is: "words"; readonly words: string }
  | {
      readonly is: "changes";
      readonly path: readonly string[];
      readonly from: number;
      readonly holds: (count: number) => boolean;
    }
  | { readonly is: "ever" | "always"; readonly from: number; readonly of: Ask }
  | { readonly is: "was"; readonly on: number; readonly of: Ask };

/** Whether a record in reach matches. */
export function isAskedFor(ask: Ask, scene: Scene, kind: AskedKind, record: Wire): boolean {
  const also = (each: Ask): boolean => isAskedFor(each, scene, kind, record);
  switch (ask.is) {
    case "all":
      return ask.of.every(also);
    case "any":
      return ask.of.some(also);
    case "not":
      return !also(ask.of);
    case "compared":
      return valuesOf(ask.field, scene, kind, record).some(ask.holds);
    case "there":
      return valuesOf(ask.field, scene, kind, record).length > 0;
    case "words":
      return scene.found(ask.words).has(record.id);
    case "changes":
      return ask.holds(countChanges(ask.path, ask.from, scene, record.id));
    case "ever":
      return within(scene, record.id, ask.from).some((version) => wasSo(ask.of, scene, version));
    case "always":
      return (
        versionOn(scene, record.id, ask.from) !== undefined &&
        within(scene, record.id, ask.from).every((version) => wasSo(ask.of, scene, version))
      );
    case "was": {
      const version = versionOn(scene, record.id, ask.on);
      return version !== undefined && wasSo(ask.of, scene, version);
    }
  }
}

function valuesOf({ through, path }: AskedField, scene: Scene, kind: AskedKind, record: Wire): unknown[] {
  return ledTo(scene, kind, record, through).flatMap((each) => valuesIn(each, path));
}

/** Whether the record existed for the caller at that time, and matched. */
function wasSo(ask: Ask, scene: Scene, { kind, record }: Version): boolean {
  return record !== null && isWithinReach(scene, kind, record) && isAskedFor(ask, scene, kind, record);
}

function versionOn(scene: Scene, id: string, on: number): Version | undefined {
  return scene.versions.get(id)?.findLast((version) => version.from <= scene.known(on));
}

/** All versions valid at some time from a timestamp until the queried one, deleted records included. */
function within(scene: Scene, id: string, from: number): Version[] {
  const versions = scene.versions.get(id) ?? [];
  const [first, last] = [scene.known(from), scene.known(scene.at)];
  return versions.filter(
    (version, place) => version.from <= last && (versions[place + 1]?.from ?? Number.POSITIVE_INFINITY) > first,
  );
}

function countChanges(path: readonly string[], from: number, scene: Scene, id: string): number {
  const versions = scene.versions.get(id) ?? [];
  const [first, last] = [scene.known(from), scene.known(scene.at)];
  return versions.filter(({ record, isUpdate, kind, from: at, changed }, place) => {
    if (!isUpdate || record === null || at <= first || at > last || !isWithinReach(scene, kind, record)) return false;
    const before = versions[place - 1]?.record;
    // Earlier versions may be pruned, in part or in full.
    if (before === undefined || before === null || at <= scene.thinnedUntil)
      return changed.includes(path[0] as string) || OF_EVERY_VERSION.has(path[0] as string);
    return !Bun.deepEquals(fieldOf(record, path), fieldOf(before, path));
  }).length;
}

const OF_EVERY_VERSION = new Set(["updated_at", "valid_from"]);

/** A missing field equals null. */
function fieldOf(record: Wire, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (value as Wire | null | undefined)?.[name], record) ?? null;
}
