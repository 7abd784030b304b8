// Settings pages in groups, filtered by the user's permissions.

import type { operations } from "#api";
import { may } from "../session/me.ts";
import { settingsText } from "../text/settings.ts";
import type { PagePath } from "../url/page-paths.ts";

interface Area {
  readonly group: string;
  readonly href: PagePath;
  readonly title: string;
  /** Permission required to see the page. */
  readonly operation: keyof operations;
}

const { tabs } = settingsText;

const AREAS: readonly Area[] = [
  { group: "You", href: "/settings", title: tabs.account, operation: "getMe" },
  { group: "Access", href: "/settings/organization", title: tabs.organization, operation: "getOrganization" },
  { group: "Access", href: "/settings/people", title: tabs.people, operation: "listUsers" },
  { group: "Access", href: "/settings/keys", title: tabs.keys, operation: "listApiKeys" },
  { group: "Inventory", href: "/settings/networks", title: tabs.networks, operation: "listNetworks" },
  { group: "Inventory", href: "/settings/credentials", title: tabs.credentials, operation: "listCredentials" },
  { group: "Inventory", href: "/settings/tags", title: tabs.tags, operation: "listTags" },
  { group: "Inventory", href: "/settings/custom-fields", title: tabs.customFields, operation: "listCustomFields" },
  { group: "Inventory", href: "/settings/markers", title: tabs.markers, operation: "listMarkers" },
  { group: "Appliance", href: "/settings/appliance", title: tabs.appliance, operation: "getAppliance" },
  { group: "Appliance", href: "/settings/backups", title: tabs.backups, operation: "listBackups" },
  { group: "Appliance", href: "/settings/retention", title: tabs.retention, operation: "previewRetention" },
  { group: "Appliance", href: "/settings/log", title: tabs.log, operation: "listLogLines" },
  { group: "Appliance", href: "/settings/about", title: tabs.about, operation: "getLicences" },
];

/** Whether the user may open a page. @param href of any page */
export function mayOpen(href: string): boolean {
  const area = AREAS.find((candidate) => candidate.href === href);
  return area === undefined || may(area.operation);
}

/** Pages that the user may open. */
export function openAreas(): readonly Area[] {
  return AREAS.filter(({ operation }) => may(operation));
}

/** Whether a page belongs to an area. @param path path of the page, or of the list that contains its record */
export function isInArea(href: string, path: string): boolean {
  return path === href || (href !== "/settings" && path.startsWith(`${href}/`));
}
