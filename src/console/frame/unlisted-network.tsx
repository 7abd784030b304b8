// Replacement for a page of an unknown network, where everything would appear empty.

import type { ComponentChildren } from "preact";
import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { Page } from "../parts/page.tsx";
import { atMs, atQuery, isPast } from "../time/at.ts";
import { hrefHere } from "../url/location.ts";

interface UnlistedNetworkProps {
  /** Network that does not exist now or is not accessible. */
  readonly id: string;
  readonly children: ComponentChildren;
}

/** Shows the page anyway if the network existed at the shown instant. */
export function UnlistedNetwork({ id, children }: UnlistedNetworkProps) {
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
