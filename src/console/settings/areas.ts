// Settings pages in groups, filtered by the user's permissions.

import type { operations } from "#api";
import { may } from "../session/me.ts";
import { settingsText } from "../text/settings.ts";
import type { PagePath } from "../url/page-paths.ts";

interface Area {
  readonly href: PagePath;
  readonly title: string;
  /** Permission required to see the page. */
  readonly operation: keyof operations;
}

interface AreaGroup {
  readonly key: string;
  readonly title: string;
  readonly areas: readonly Area[];
}

const { groups, tabs } = settingsText;

const GROUPS: readonly AreaGroup[] = [
  { key: "you", title: groups.you, areas: [{ href: "/settings", title: tabs.account, operation: "getMe" }] },
  {
    key: "access",
    title: groups.access,
    areas: [
      { href: "/settings/organization", title: tabs.organization, operation: "getOrganization" },
      { href: "/settings/people", title: tabs.people, operation: "listUsers" },
      { href: "/settings/keys", title: tabs.keys, operation: "listApiKeys" },
    ],
  },
  {
    key: "inventory",
    title: groups.inventory,
    areas: [
      { href: "/settings/networks", title: tabs.networks, operation: "listNetworks" },
      { href: "/settings/credentials", title: tabs.credentials, operation: "listCredentials" },
      { href: "/settings/tags", title: tabs.tags, operation: "listTags" },
      { href: "/settings/custom-fields", title: tabs.customFields, operation: "listCustomFields" },
      { href: "/settings/markers", title: tabs.markers, operation: "listMarkers" },
    ],
  },
  {
    key: "appliance",
    title: groups.appliance,
    areas: [
      { href: "/settings/appliance", title: tabs.appliance, operation: "getAppliance" },
      { href: "/settings/backups", title: tabs.backups, operation: "listBackups" },
      { href: "/settings/retention", title: tabs.retention, operation: "previewRetention" },
      { href: "/settings/log", title: tabs.log, operation: "listLogLines" },
      { href: "/settings/about", title: tabs.about, operation: "getLicences" },
    ],
  },
];

/** Whether the user may open a page. @param href of any page */
export function mayOpen(href: string): boolean {
  const area = GROUPS.flatMap(({ areas }) => areas).find((each) => each.href === href);
  return area === undefined || may(area.operation);
}

/** Pages that the user may open. */
export function openAreas(): readonly AreaGroup[] {
  return GROUPS.map((group) => ({ ...group, areas: group.areas.filter(({ operation }) => may(operation)) })).filter(
    ({ areas }) => areas.length > 0,
  );
}

/** Whether a page is an area's own or one of its records. @param place list or page that contains it */
export function isInArea(href: string, place: string): boolean {
  return place === href || (href !== "/settings" && place.startsWith(`${href}/`));
}
