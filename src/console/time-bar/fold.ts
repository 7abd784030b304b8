// Collapsed time bar for small windows: one line with the shown instant and an expand button.

import { signal } from "@preact/signals";

/** As in styles/time-bar.css: phones in either orientation, and windows at high zoom. */
const LITTLE_ROOM = "(max-width: 48rem), (max-height: 26rem)";

const room = window.matchMedia(LITTLE_ROOM);

/** Whether the bar is a single line. */
export const isFolding = signal(room.matches);
room.addEventListener("change", () => (isFolding.value = room.matches));

/** Whether the collapsed part is open. Persists across pages until closed. */
export const isUnfolded = signal(false);
