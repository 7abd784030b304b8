// Tabs of the discovery pages.

import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { TabRow } from "../parts/tabs.tsx";
import { groupedDigits } from "../text/digits.ts";
import { scopeQuery } from "../time/at.ts";
import { hrefOf, pathname } from "../url/location.ts";
import { WAITING_TYPES } from "./consent.ts";

const WAITING = "/discovery/waiting";
const AREAS = [
  { href: "/discovery", title: "Scans" },
  { href: "/discovery/schedules", title: "Schedules" },
  { href: "/discovery/ignored", title: "Ignored" },
  { href: WAITING, title: "Waiting" },
];

export function DiscoveryTabs() {
  const asked = read("/api/v1/discovery/withheld", { query: { ...scopeQuery(), limit: 1 } });
  const waiting = useAnswer(asked, { how: "refresh", types: WAITING_TYPES }).meta?.pagination.total_count ?? 0;
  return (
    <TabRow label="Discovery" shown={pathname.value}>
      {AREAS.map(({ href, title }) => (
        <a key={href} href={hrefOf(href)} aria-current={pathname.value === href ? "page" : undefined}>
          {title}
          {href === WAITING && waiting > 0 && <span class="tab-count"> {groupedDigits(waiting)}</span>}
        </a>
      ))}
    </TabRow>
  );
}
