// What stands in place of a page whose network is none: everything in it would seem to be empty.

import type { ComponentChildren } from "preact";
import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { Page } from "../parts/page.tsx";
import { frameText } from "../text/frame.ts";
import { atMs, atQuery, isPast } from "../time/at.ts";
import { hrefHere } from "../url/location.ts";

interface UnlistedNetworkProps {
  /** Of a network that is not there now, or not within reach. */
  readonly id: string;
  readonly children: ComponentChildren;
}

/** The page all the same where the network was there at the instant that is shown. */
export function UnlistedNetwork({ id, children }: UnlistedNetworkProps) {
  const isInstant = !isPast.value || atMs.value !== null;
  const { data } = useAnswer(isInstant ? read("/api/v1/networks", { query: { ids: [id], ...atQuery() } }) : null);
  if (data?.length !== 0) return <>{children}</>;
  return (
    <Page title={frameText.noNetworkTitle}>
      <p>{frameText.noNetwork}</p>
      <p>
        <a href={hrefHere({ network: null })}>{frameText.allNetworks}</a>
      </p>
    </Page>
  );
}
