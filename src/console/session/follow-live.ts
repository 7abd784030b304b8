// Live updates for the duration of a session.

import { computed, effect } from "@preact/signals";
import { startLive } from "../api/live.ts";
import { me } from "./me.ts";

const userId = computed(() => me.value?.id ?? null);

/** Starts on sign-in, before any page reads, and stops on sign-out. */
export function followWhileSignedIn(): void {
  effect(() => (userId.value === null ? undefined : startLive()));
}
