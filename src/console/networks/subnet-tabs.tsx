// Views of all subnets: tree and list.

import type { Around } from "../lists/list-page.tsx";
import { TabRow } from "../parts/tabs.tsx";
import { subnetText } from "../text/networks.ts";
import { hrefOf, pathname } from "../url/location.ts";

const WAYS = [
  { href: "/subnets", title: subnetText.tree },
  { href: "/subnets/list", title: subnetText.list },
  { href: "/subnets/ranges", title: subnetText.ranges },
];

export function SubnetTabs() {
  return (
    <TabRow label={subnetText.ways} shown={pathname.value}>
      {WAYS.map(({ href, title }) => (
        <a key={href} href={hrefOf(href)} aria-current={pathname.value === href ? "page" : undefined}>
          {title}
        </a>
      ))}
    </TabRow>
  );
}

/** Content around the lists of subnets and ranges. */
export function aroundSubnets(): Around {
  return { above: <SubnetTabs /> };
}
