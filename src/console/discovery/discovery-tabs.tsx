// The pages of discovery, one beside the other.

import { TabRow } from "../parts/tabs.tsx";
import { discoveryText } from "../text/discovery.ts";
import { hrefOf, pathname } from "../url/location.ts";

const AREAS = [
  { href: "/discovery", title: discoveryText.tabs.scans },
  { href: "/discovery/schedules", title: discoveryText.tabs.schedules },
  { href: "/discovery/ignored", title: discoveryText.tabs.ignored },
];

export function DiscoveryTabs() {
  return (
    <TabRow label={discoveryText.areas} shown={pathname.value}>
      {AREAS.map(({ href, title }) => (
        <a key={href} href={hrefOf(href)} aria-current={pathname.value === href ? "page" : undefined}>
          {title}
        </a>
      ))}
    </TabRow>
  );
}
