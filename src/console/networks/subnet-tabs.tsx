// Tabs for the views of all subnets: tree, list and ranges.

import { TabRow } from "../components/tabs.tsx";
import type { ListExtras } from "../lists/list-page.tsx";
import { hrefOf, pathname } from "../url/location.ts";

const VIEWS = [
  { href: "/subnets", title: "Tree" },
  { href: "/subnets/list", title: "List" },
  { href: "/subnets/ranges", title: "Ranges" },
];

export function SubnetTabs() {
  return (
    <TabRow label="Subnet views" shown={pathname.value}>
      {VIEWS.map(({ href, title }) => (
        <a key={href} href={hrefOf(href)} aria-current={pathname.value === href ? "page" : undefined}>
          {title}
        </a>
      ))}
    </TabRow>
  );
}

/** Content around the lists of subnets and ranges. */
export function subnetExtras(): ListExtras {
  return { above: <SubnetTabs /> };
}
