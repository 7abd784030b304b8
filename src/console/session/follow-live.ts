// Live following lasts as long as somebody is signed in.

import { computed, effect } from "@preact/signals";
import { startLive } from "../api/live.ts";
import { me } from "./me.ts";

const userId = computed(() => me.value?.id ?? null);

/** Begins with whoever signs in, before any page asks, and ends with them. */
export function followWhileSignedIn(): void {
  effect(() => (userId.value === null ? undefined : startLive()));
}
