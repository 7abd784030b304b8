// Where there is little room the bar is one line: which instant is shown, and a button for all else.

import { signal } from "@preact/signals";

/** As in styles/time-bar.css: telephones, upright and on their side, and windows that are enlarged very much. */
const LITTLE_ROOM = "(max-width: 48rem), (max-height: 26rem)";

const room = window.matchMedia(LITTLE_ROOM);

/** Whether the bar is one line. */
export const isFolding = signal(room.matches);
room.addEventListener("change", () => (isFolding.value = room.matches));

/** Whether the rest of it has been opened. It stays so from page to page, until it is closed. */
export const isUnfolded = signal(false);
