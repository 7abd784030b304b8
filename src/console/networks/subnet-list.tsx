// Subnets and ranges as lists: filtered, ordered and in columns, whatever networks they are of.

import { LISTS } from "../lists/definitions.tsx";
import { ListPage } from "../lists/list-page.tsx";
import { SubnetTabs } from "./subnet-tabs.tsx";

export function SubnetListPage() {
  return <ListPage list={LISTS["/subnets/list"]} above={<SubnetTabs />} />;
}

export function RangeListPage() {
  return <ListPage list={LISTS["/subnets/ranges"]} above={<SubnetTabs />} />;
}
