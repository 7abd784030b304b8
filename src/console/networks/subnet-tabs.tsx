// Views of all subnets: tree and list.

import type { Around } from "../lists/list-page.tsx";
import { TabRow } from "../parts/tabs.tsx";
import { hrefOf, pathname } from "../url/location.ts";

const WAYS = [
  { href: "/subnets", title: "Tree" },
  { href: "/subnets/list", title: "List" },
  { href: "/subnets/ranges", title: "Ranges" },
];

export function SubnetTabs() {
  return (
    <TabRow label="Ways to look at subnets" shown={pathname.value}>
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
