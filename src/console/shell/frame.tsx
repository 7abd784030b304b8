// Frame around every page: search, navigation, time bar and account. Not shown before sign-in.

import type { ComponentChildren } from "preact";
import { isReachable, read } from "../api/client.ts";
import { useFresh } from "../api/fresh.ts";
import { useResponse } from "../api/response.ts";
import { isStale, PageContent } from "../api/stale.ts";
import { ActionButton } from "../components/buttons.tsx";
import { Page } from "../components/page.tsx";
import { Problem } from "../components/problem.tsx";
import { Waiting } from "../components/waiting.tsx";
import { When } from "../components/when.tsx";
import { loadMe, me, meProblem, refreshMe } from "../session/me.ts";
import { atMs, atQuery, isPast, network } from "../time/at.ts";
import { TimeBar } from "../time-bar/time-bar.tsx";
import { hrefHere, hrefOf } from "../url/location.ts";
import { AccountMenu } from "./account-menu.tsx";
import { CurrentPage } from "./current-page.tsx";
import { FindBox } from "./find-box.tsx";
import { KeyList } from "./key-list.tsx";
import { Navigation } from "./navigation.tsx";
import { NetworkSwitcher, unlistedNetwork } from "./network-switcher.tsx";
import { PaletteKey } from "./palette-key.tsx";
import { UnauthenticatedPage } from "./unauthenticated-page.tsx";

export function Frame() {
  if (meProblem.value !== null) return <Problem problem={meProblem.value} retry={() => void loadMe()} />;
  if (me.value === undefined) return <Waiting />;
  if (me.value === null) return <UnauthenticatedPage />;
  return <SignedIn key={me.value.id} />;
}

/** Refreshes the user if the organization is renamed or starts to require reasons, which open forms must reflect. */
const ORGANIZATION = { how: "refresh", types: ["organization"] } as const;

function SignedIn() {
  useFresh({ live: ORGANIZATION, name: "me", retry: () => void refreshMe() });
  const { data: version } = useResponse(read("/api/version"));
  const isReadOnly = version?.read_only === true;
  return (
    <div class={isPast.value ? "frame in-past" : "frame"}>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="top">
        <ActionButton label="Menu" class="menu-button" popoverTarget="pages" />
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
        <Notes isDemo={version?.is_demo === true} isReadOnly={isReadOnly} />
        <TimeBar isReadOnly={isReadOnly} />
      </div>
      <Content />
      <KeyList />
    </div>
  );
}

/** Page content, dimmed while outdated. */
function Content() {
  const networkId = network.value;
  return (
    <main id="content" tabIndex={-1} class={isStale.value ? "is-held" : undefined} aria-busy={isStale.value}>
      <PageContent.Provider value={true}>
        {networkId !== null && unlistedNetwork.value === networkId ? (
          <UnlistedNetwork id={networkId}>
            <CurrentPage />
          </UnlistedNetwork>
        ) : (
          <CurrentPage />
        )}
      </PageContent.Provider>
    </main>
  );
}

/** Note on a backup: its "now" is the time of the backup, which no other element shows. */
function BackupNote() {
  const { data } = useResponse(read("/api/v1/ledger"));
  return (
    <p class="note">
      This is a read-only backup: nothing can be changed.
      {data !== undefined && data.at !== null && (
        <>
          {" "}
          Last change: <When instant={data.at} as="both" />.
        </>
      )}
    </p>
  );
}

/** Notes about the appliance as a whole, on every page. */
function Notes({ isDemo, isReadOnly }: Readonly<Record<"isDemo" | "isReadOnly", boolean>>) {
  if (!isDemo && !isReadOnly && isReachable.value) return null;
  return (
    <section aria-label="About this appliance">
      {isDemo && (
        <p class="note">
          A demo with fictional data. <span class="where-wide">Its scans do not touch a real network.</span>
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

/**
 * Replaces pages for an unknown network, on which everything would appear empty. Shows them anyway if the network
 * existed at the shown timestamp.
 */
function UnlistedNetwork({ id, children }: { readonly id: string; readonly children: ComponentChildren }) {
  const isInstant = !isPast.value || atMs.value !== null;
  const { data } = useResponse(isInstant ? read("/api/v1/networks", { query: { ids: [id], ...atQuery() } }) : null);
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
