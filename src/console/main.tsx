// Entry point of the console: starts background tasks, then renders the frame.

import { render } from "preact";
import { keepOwnDrafts } from "./forms/own-drafts.ts";
import { Frame } from "./frame/frame.tsx";
import { rememberNetwork } from "./frame/network-switcher.tsx";
import { loadPage, pageOf } from "./frame/pages.tsx";
import { isolateTexts } from "./parts/isolation.ts";
import { startKeys } from "./parts/keys.ts";
import { followWhileSignedIn } from "./session/follow-live.ts";
import { findMe, followOtherTabs } from "./session/me.ts";
import { watchForSetupToken } from "./session/setup-token.ts";
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
keepOwnDrafts();
followWhileSignedIn();
followOtherTabs();
// Before the page's scripts: the first paint waits for this answer, and the browser limits parallel requests to six.
void findMe();
loadFirstPage();
// Every page formats instants: initialize the formatter while the answer is pending.
zone.peek();
render(<Frame />, document.body);

/** Runs in parallel with the request for the user. A failure is reported when the page is shown. */
function loadFirstPage(): void {
  const match = pageOf(pathname.peek());
  if (match !== null) Promise.resolve(loadPage(match.path)).catch(() => undefined);
}
