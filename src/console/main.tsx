// Entry point of the console: starts background tasks, then renders the frame.

import { computed, effect } from "@preact/signals";
import { render } from "preact";
import { startLive } from "./api/live.ts";
import { isolateTexts } from "./components/isolation.ts";
import { startKeys } from "./components/keys.ts";
import { keepDraftsOf } from "./forms/drafts.ts";
import { followOtherTabs, loadMe, me } from "./session/me.ts";
import { watchForSetupToken } from "./session/setup-token.ts";
import { Frame } from "./shell/frame.tsx";
import { rememberNetwork } from "./shell/network-switcher.tsx";
import { loadPage, pageOf } from "./shell/pages.tsx";
import { settleInstants } from "./time/at.ts";
import { startClock } from "./time/clock.ts";
import { zone } from "./time/zone.ts";
import { followLinks, pathname } from "./url/location.ts";

isolateTexts();
watchForSetupToken();
followLinks((path) => pageOf(path) !== null);
startKeys();
startClock();
rememberNetwork();
settleInstants();
// Removes drafts synchronously when a session ends, before the sign-in page appears.
effect(() => {
  if (me.value !== undefined) keepDraftsOf(me.value?.id ?? null);
});
const userId = computed(() => me.value?.id ?? null);
// Live updates start on sign-in, before any page reads, and stop on sign-out.
effect(() => (userId.value === null ? undefined : startLive()));
followOtherTabs();
// Runs before the page's scripts load: the first paint waits for it, and browsers limit parallel requests to six.
void loadMe();
loadFirstPage();
// Every page formats timestamps: initializes the formatter while the response is pending.
zone.peek();
render(<Frame />, document.body);

/** Loads the page's scripts in parallel with the user. A failure is reported when the page is shown. */
function loadFirstPage(): void {
  const match = pageOf(pathname.peek());
  if (match !== null) Promise.resolve(loadPage(match.path)).catch(() => undefined);
}
