// Ties drafts to the signed-in user.

import { effect } from "@preact/signals";
import { me } from "../session/me.ts";
import { keepDraftsOf } from "./drafts.ts";

/** Removes drafts synchronously at the end of a session, before the sign-in page appears. */
export function keepOwnDrafts(): void {
  effect(() => {
    if (me.value !== undefined) keepDraftsOf(me.value?.id ?? null);
  });
}
