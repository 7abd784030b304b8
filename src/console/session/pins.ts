// A user's pinned records, shared by all browsers: pinned on their pages, listed on the start page.

import { apiPath, isPagedKind, type PagedKind, RECORD_KINDS } from "../kinds/kinds.ts";
import { preferences, setPreference } from "./preferences.ts";

/** A record whose kind has dedicated pages. */
export interface Pinned {
  readonly kind: PagedKind;
  readonly id: string;
}

/** Name of the preference. */
export const PINS = "pins";
/** Maximum number of pins; older ones are dropped. */
const PINS_MAX = 30;

/** Pinned records, latest last; empty while the preferences are loading. */
export function pins(): readonly Pinned[] {
  return pinsIn(preferences.value?.[PINS]);
}

/** @throws Refusal */
export async function setPinned({ kind, id }: Pinned, isPinned: boolean): Promise<void> {
  await setPreference(PINS, (last) => {
    const others = pinsIn(last).filter((pin) => pin.id !== id);
    const next = isPinned ? [...others, { kind, id }].slice(-PINS_MAX) : others;
    return next.map((pin) => ({ kind: pathOfKind(pin.kind), id: pin.id }));
  });
}

/** Pins in a stored value, which may be malformed or from another version. */
function pinsIn(preference: unknown): readonly Pinned[] {
  if (!Array.isArray(preference)) return [];
  return preference.flatMap((pin: unknown) => {
    if (typeof pin !== "object" || pin === null) return [];
    const { kind, id } = pin as Record<string, unknown>;
    const pagedKind = RECORD_KINDS.filter(isPagedKind).find((paged) => pathOfKind(paged) === kind);
    return pagedKind === undefined || typeof id !== "string" ? [] : [{ kind: pagedKind, id }];
  });
}

/** Preferences identify kinds by their API list paths. */
function pathOfKind(kind: PagedKind): string {
  return apiPath(kind).replace("/api/v1/", "");
}
