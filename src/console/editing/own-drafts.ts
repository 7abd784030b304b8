// Drafts last as long as their author is signed in.

import { effect } from "@preact/signals";
import { me } from "../session/me.ts";
import { keepDraftsOf } from "./drafts.ts";

/** Removes them in the same turn in which a session ends, and so before the sign-in page is shown. */
export function keepOwnDrafts(): void {
  effect(() => {
    if (me.value !== undefined) keepDraftsOf(me.value?.id ?? null);
  });
}
