// The console's beginning: what goes on for as long as the page is open, then the frame.

import { render } from "preact";
import { Frame } from "./frame/frame.tsx";
import { rememberNetwork } from "./frame/network-switcher.tsx";
import { loadPage, pageOf } from "./frame/pages.tsx";
import { isolateTexts } from "./parts/isolation.ts";
import { startKeys } from "./parts/keys.ts";
import { followWhileSignedIn } from "./session/follow-live.ts";
import { watchForSetupToken } from "./session/setup-token.ts";
import { settleInstants } from "./time/at.ts";
import { startClock } from "./time/clock.ts";
import { followLinks, pathname } from "./url/location.ts";

isolateTexts();
watchForSetupToken();
followLinks((path) => pageOf(path) !== null);
startKeys();
startClock();
rememberNetwork();
settleInstants();
followWhileSignedIn();
loadFirstPage();
render(<Frame />, document.body);

/** While it is asked who is signed in. Where it fails, the page says so when it is shown. */
function loadFirstPage(): void {
  const match = pageOf(pathname.peek());
  if (match !== null) Promise.resolve(loadPage(match.path)).catch(() => undefined);
}
