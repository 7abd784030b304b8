// Pinned records of a user, shared by all browsers: pinned on their pages, listed on the start page.

import { apiPath, isPagedKind, type PagedKind, RECORD_KINDS } from "../kinds/kinds.ts";
import { preferences, setPreference } from "./preferences.ts";

/** Record of a kind with pages of its own. */
export interface Pinned {
  readonly kind: PagedKind;
  readonly id: string;
}

/** Name of the preference. */
export const PINS = "pins";
/** Maximum number of pins; older ones are dropped. */
const PINS_MAX = 30;

/** Latest last; empty while the preferences are loading. */
export function pins(): readonly Pinned[] {
  return pinsIn(preferences.value?.[PINS]);
}

/** @throws Refusal */
export async function setPinned({ kind, id }: Pinned, isPinned: boolean): Promise<void> {
  await setPreference(PINS, (last) => {
    const others = pinsIn(last).filter((each) => each.id !== id);
    const all = isPinned ? [...others, { kind, id }].slice(-PINS_MAX) : others;
    return all.map((each) => ({ kind: pathOfKind(each.kind), id: each.id }));
  });
}

/** The stored value may be from another version, or malformed. */
function pinsIn(preference: unknown): readonly Pinned[] {
  if (!Array.isArray(preference)) return [];
  return preference.flatMap((each: unknown) => {
    if (typeof each !== "object" || each === null) return [];
    const { kind, id } = each as Record<string, unknown>;
    const known = RECORD_KINDS.filter(isPagedKind).find((one) => pathOfKind(one) === kind);
    return known === undefined || typeof id !== "string" ? [] : [{ kind: known, id }];
  });
}

/** Preferences identify kinds by their API list paths. */
function pathOfKind(kind: PagedKind): string {
  return apiPath(kind).replace("/api/v1/", "");
}
