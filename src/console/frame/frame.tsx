// Frame of every page: search, navigation, time bar, and account. Not shown before sign-in.

import type { ComponentChildren } from "preact";
import { useAnswer } from "../api/answer.ts";
import { isReachable, read } from "../api/client.ts";
import { useFresh } from "../api/fresh.ts";
import { isHeld, OfPage } from "../api/held.ts";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { findMe, me, meProblem, refreshMe } from "../session/me.ts";
import { atMs, atQuery, isPast, network } from "../time/at.ts";
import { TimeBar } from "../time-bar/time-bar.tsx";
import { hrefHere, hrefOf } from "../url/location.ts";
import { AccountMenu } from "./account-menu.tsx";
import { Entrance } from "./entrance.tsx";
import { FindBox } from "./find-box.tsx";
import { KeyList } from "./key-list.tsx";
import { Navigation } from "./navigation.tsx";
import { NetworkSwitcher, unlistedNetwork } from "./network-switcher.tsx";
import { PaletteKey } from "./palette-key.tsx";
import { ShownPage } from "./shown-page.tsx";

export function Frame() {
  if (meProblem.value !== null) return <Problem problem={meProblem.value} again={() => void findMe()} />;
  if (me.value === undefined) return <Waiting />;
  if (me.value === null) return <Entrance />;
  return <SignedIn key={me.value.id} />;
}

/** The organization may be renamed or start to require reasons, which open forms must reflect. */
const ORGANIZATION = { how: "refresh", types: ["organization"] } as const;

function SignedIn() {
  useFresh({ live: ORGANIZATION, name: "me", again: () => void refreshMe() });
  return (
    <div class={isPast.value ? "frame in-past" : "frame"}>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="top">
        <button type="button" class="menu-button" popoverTarget="pages">
          Menu
        </button>
        <a class="brand" href={hrefOf("/")}>
          netledger
        </a>
        <FindBox />
        <PaletteKey />
        <NetworkSwitcher />
        <AccountMenu />
      </header>
      <Navigation />
      <div class="notes">
        <Notes />
        <TimeBar />
      </div>
      <Content />
      <KeyList />
    </div>
  );
}

/** Page content; outdated parts are dimmed. */
function Content() {
  const chosen = network.value;
  return (
    <main id="content" tabIndex={-1} class={isHeld.value ? "is-held" : undefined} aria-busy={isHeld.value}>
      <OfPage.Provider value={true}>
        {chosen !== null && unlistedNetwork.value === chosen ? (
          <UnlistedNetwork id={chosen}>
            <ShownPage />
          </UnlistedNetwork>
        ) : (
          <ShownPage />
        )}
      </OfPage.Provider>
    </main>
  );
}

/** In a backup, now is the time of the backup, which is shown nowhere else. */
function BackupNote() {
  const { data } = useAnswer(read("/api/v1/ledger"));
  return (
    <p class="note">
      A read-only backup: you can look at everything and change nothing.
      {data !== undefined && data.at !== null && (
        <>
          {" "}
          Its last change is of <When instant={data.at} as="both" />.
        </>
      )}
    </p>
  );
}

/** Notes on the appliance as a whole, on every page. */
function Notes() {
  const { data: version } = useAnswer(read("/api/version"));
  const isDemo = version?.is_demo === true;
  const isReadOnly = version?.read_only === true;
  if (!isDemo && !isReadOnly && isReachable.value) return null;
  return (
    <section aria-label="About this appliance">
      {isDemo && (
        <p class="note">
          A demo: everything in it is made up. <span class="where-wide">Its scans ask no real network.</span>
        </p>
      )}
      {isReadOnly && <BackupNote />}
      {!isReachable.value && (
        <p class="note" role="alert">
          Can't reach the appliance. Showing the last data received; retrying.
        </p>
      )}
    </section>
  );
}

interface UnlistedNetworkProps {
  /** Network that does not exist now or is not accessible. */
  readonly id: string;
  readonly children: ComponentChildren;
}

/**
 * Replaces the page of an unknown network, where everything would appear empty. Shows it anyway if the network existed
 * at the shown instant.
 */
function UnlistedNetwork({ id, children }: UnlistedNetworkProps) {
  const isInstant = !isPast.value || atMs.value !== null;
  const { data } = useAnswer(isInstant ? read("/api/v1/networks", { query: { ids: [id], ...atQuery() } }) : null);
  if (data?.length !== 0) return <>{children}</>;
  return (
    <Page title="Network not found">
      <p>Network not found, or you don't have access to it.</p>
      <p>
        <a href={hrefHere({ network: null })}>All networks</a>
      </p>
    </Page>
  );
}
