// Additions to the discovery lists: tabs, and actions on ignored records.

import type { ListExtras } from "../lists/list-page.tsx";
import { may } from "../session/me.ts";
import { DiscoveryTabs } from "./discovery-tabs.tsx";
import { StopIgnoring } from "./stop-ignoring.tsx";

export function scheduleExtras(): ListExtras {
  return { above: <DiscoveryTabs /> };
}

export function ignoredExtras(): ListExtras {
  return {
    above: <DiscoveryTabs />,
    selected: {
      label: "Stop ignoring",
      isPermitted: may("liftManyIgnored"),
      show: (ids, end, done) => <StopIgnoring ids={ids} onEnd={end} onDone={done} />,
    },
  };
}
