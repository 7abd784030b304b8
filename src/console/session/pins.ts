// The records that a user wants at hand, on whatever browser: pinned on their pages, listed at the start.

import { apiPath, isPagedKind, type PagedKind, RECORD_KINDS } from "../kinds/kinds.ts";
import { preferences, setPreference } from "./preferences.ts";

/** A record of a kind that has pages of its own. */
export interface Pinned {
  readonly kind: PagedKind;
  readonly id: string;
}

/** The name of the preference. */
export const PINS = "pins";
/** As many as one finds one's way in. */
const PINS_MAX = 30;

/** The latest last; none until the preferences are there. */
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

/** What stands there may be of another version, or of nobody's making. */
function pinsIn(preference: unknown): readonly Pinned[] {
  if (!Array.isArray(preference)) return [];
  return preference.flatMap((each: unknown) => {
    if (typeof each !== "object" || each === null) return [];
    const { kind, id } = each as Record<string, unknown>;
    const known = RECORD_KINDS.filter(isPagedKind).find((one) => pathOfKind(one) === kind);
    return known === undefined || typeof id !== "string" ? [] : [{ kind: known, id }];
  });
}

/** Preferences name kinds by the paths of their lists. */
function pathOfKind(kind: PagedKind): string {
  return apiPath(kind).replace("/api/v1/", "");
}
