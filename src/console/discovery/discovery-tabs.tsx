// Tabs of the discovery pages.

import { read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { TabRow } from "../components/tabs.tsx";
import { groupedDigits } from "../text/digits.ts";
import { scopeQuery } from "../time/at.ts";
import { hrefOf, pathname } from "../url/location.ts";
import { WAITING_TYPES } from "./consent.ts";

const WAITING_PAGE = "/discovery/waiting";
const PAGES = [
  { href: "/discovery", title: "Scans" },
  { href: "/discovery/schedules", title: "Schedules" },
  { href: "/discovery/ignored", title: "Ignored" },
  { href: WAITING_PAGE, title: "Waiting" },
];

export function DiscoveryTabs() {
  const request = read("/api/v1/discovery/withheld", { query: { ...scopeQuery(), limit: 1 } });
  const waiting = useResponse(request, { how: "refresh", types: WAITING_TYPES }).meta?.pagination.total_count ?? 0;
  return (
    <TabRow label="Discovery" shown={pathname.value}>
      {PAGES.map(({ href, title }) => (
        <a key={href} href={hrefOf(href)} aria-current={pathname.value === href ? "page" : undefined}>
          {title}
          {href === WAITING_PAGE && waiting > 0 && <span class="tab-count"> {groupedDigits(waiting)}</span>}
        </a>
      ))}
    </TabRow>
  );
}
