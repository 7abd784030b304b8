// Which of the fields that the API takes are in a form, and in which order. Plain functions.

import type { KindDetails } from "../kinds/details.ts";
import type { FormField } from "./field.ts";

/** Fields that say which record it is and where, or that the write itself gives. */
const IDENTITY: ReadonlySet<string> = new Set([
  "id",
  "organization_id",
  "network_id",
  "host_id",
  "expected_updated_at",
]);

/** Where a new record belongs, which does not change: a part belongs to its host, and with that to a network. */
export function placesOf(all: readonly FormField[]): readonly string[] {
  const required = all.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return ["host_id", "network_id"].filter((place) => required.includes(place)).slice(0, 1);
}

/** The place of a new record, what its kind mentions, then whatever else can be typed. */
export function formFields(
  all: readonly FormField[],
  { form = [], unset = [] }: Pick<KindDetails, "form" | "unset">,
  isNew: boolean,
): readonly FormField[] {
  const shown = [...(isNew ? placesOf(all) : []), ...form];
  const others = all.filter(
    ({ name, type }) => type !== "other" && !IDENTITY.has(name) && !shown.includes(name) && !unset.includes(name),
  );
  return [...shown.flatMap((name) => all.find((field) => field.name === name) ?? []), ...others];
}
