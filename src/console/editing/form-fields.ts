// Selection and order of form fields. Pure.

import type { FormField } from "../forms/field.ts";
import type { KindDetails } from "../kinds/details.ts";
import { wordList } from "../kinds/word-list.ts";

/** Fields that identify or locate the record, or that the request supplies. */
const IDENTITY: ReadonlySet<string> = new Set(wordList("id organization_id network_id host_id expected_updated_at"));

/** Parent field of a new record, which is immutable: the host of a part, otherwise the network. */
export function parentFieldsOf(all: readonly FormField[]): readonly string[] {
  const required = all.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return ["host_id", "network_id"].filter((field) => required.includes(field)).slice(0, 1);
}

/** Form fields: parent of a new record, fields that the kind lists, then all other editable ones. */
export function formFields(
  all: readonly FormField[],
  { form = [], unset = [] }: Pick<KindDetails, "form" | "unset">,
  isNew: boolean,
): readonly FormField[] {
  const shown = [...(isNew ? parentFieldsOf(all) : []), ...form];
  const others = all.filter(
    ({ name, type }) => type !== "other" && !IDENTITY.has(name) && !shown.includes(name) && !unset.includes(name),
  );
  return [...shown.flatMap((name) => all.find((field) => field.name === name) ?? []), ...others];
}
