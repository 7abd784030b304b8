// The records that a user wants at hand, on whatever browser: pinned on their pages, listed at the start.

import { preferences, setPreference } from "./preferences.ts";

/** Kinds that can be pinned, by the path of their list. */
export const PINNED_KINDS = ["hosts", "if-entries", "subnets", "vlans"] as const;

export interface Pinned {
  readonly kind: (typeof PINNED_KINDS)[number];
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
    return isPinned ? [...others, { kind, id }].slice(-PINS_MAX) : others;
  });
}

/** What stands there may be of another version, or of nobody's making. */
function pinsIn(preference: unknown): readonly Pinned[] {
  if (!Array.isArray(preference)) return [];
  return preference.flatMap((each: unknown) => {
    if (typeof each !== "object" || each === null) return [];
    const { kind, id } = each as Record<string, unknown>;
    const known = PINNED_KINDS.find((one) => one === kind);
    return known === undefined || typeof id !== "string" ? [] : [{ kind: known, id }];
  });
}
