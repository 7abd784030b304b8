// Content around the lists of discovery: tabs, and actions on ignored records.

import type { Around } from "../lists/list-page.tsx";
import { may } from "../session/me.ts";
import { isPast, vs } from "../time/at.ts";
import { DiscoveryTabs } from "./discovery-tabs.tsx";
import { LiftIgnored } from "./lift-ignored.tsx";

export function aroundSchedules(): Around {
  return { above: <DiscoveryTabs /> };
}

export function aroundIgnored(): Around {
  return {
    above: <DiscoveryTabs />,
    selected: {
      verb: "Let come back",
      isOffered: !isPast.value && vs.value === null && may("liftManyIgnored"),
      show: (ids, end, done) => <LiftIgnored ids={ids} onEnd={end} onDone={done} />,
    },
  };
}
