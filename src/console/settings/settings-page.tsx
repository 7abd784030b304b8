// What the pages of settings have alike: their row of links, as far as one may open them, and what is said to those who may
// not. In the past they show what is now, and offer nothing.

import type { ComponentChildren } from "preact";
import type { operations } from "#api";
import { Page } from "../parts/page.tsx";
import { TabRow } from "../parts/tabs.tsx";
import { may } from "../session/me.ts";
import { settingsText } from "../text/settings.ts";
import { isPast } from "../time/at.ts";
import { hrefOf, pathname } from "../url/location.ts";

interface Area {
  readonly href: string;
  readonly title: string;
  /** Whoever may not do this has nothing to see there. */
  readonly operation: keyof operations;
}

const AREAS: readonly Area[] = [
  { href: "/settings", title: settingsText.tabs.account, operation: "getMe" },
  { href: "/settings/organization", title: settingsText.tabs.organization, operation: "getOrganization" },
  { href: "/settings/people", title: settingsText.tabs.people, operation: "listUsers" },
  { href: "/settings/keys", title: settingsText.tabs.keys, operation: "listApiKeys" },
  { href: "/settings/credentials", title: settingsText.tabs.credentials, operation: "listCredentials" },
  { href: "/settings/networks", title: settingsText.tabs.networks, operation: "listNetworks" },
  { href: "/settings/tags", title: settingsText.tabs.tags, operation: "listTags" },
  { href: "/settings/custom-fields", title: settingsText.tabs.customFields, operation: "listCustomFields" },
  { href: "/settings/markers", title: settingsText.tabs.markers, operation: "listMarkers" },
  { href: "/settings/backups", title: settingsText.tabs.backups, operation: "listBackups" },
  { href: "/settings/retention", title: settingsText.tabs.retention, operation: "previewRetention" },
  { href: "/settings/appliance", title: settingsText.tabs.appliance, operation: "getAppliance" },
  { href: "/settings/log", title: settingsText.tabs.log, operation: "listLogLines" },
  { href: "/settings/about", title: settingsText.tabs.about, operation: "getLicences" },
];

/** Whether there is something to see for whoever is signed in. @param href of any page */
export function mayOpen(href: string): boolean {
  const area = AREAS.find((each) => each.href === href);
  return area === undefined || may(area.operation);
}

interface SettingsPageProps {
  readonly title: string;
  readonly operation: keyof operations;
  /** What is said to those who may not. */
  readonly forbidden?: string;
  readonly reads?: readonly string[];
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function SettingsPage({
  title,
  operation,
  forbidden = settingsText.notPermitted,
  reads = [],
  actions,
  children,
}: SettingsPageProps) {
  const isPermitted = may(operation);
  return (
    <Page title={title} reads={isPermitted ? reads : []} actions={isPermitted ? actions : undefined}>
      <SettingsTabs />
      {isPast.value && <p class="note settings-note">{settingsText.ofNow}</p>}
      {isPermitted ? children : <p class="prose">{forbidden}</p>}
    </Page>
  );
}

/** Whether the page that is shown is one of an area: its list, or one of what is listed there. */
function isWithin(href: string): boolean {
  return pathname.value === href || (href !== "/settings" && pathname.value.startsWith(`${href}/`));
}

/** The row of links. */
export function SettingsTabs() {
  return (
    <TabRow label={settingsText.areas} shown={pathname.value}>
      {AREAS.filter((area) => may(area.operation)).map(({ href, title }) => (
        <a key={href} href={hrefOf(href)} aria-current={isWithin(href) ? "page" : undefined}>
          {title}
        </a>
      ))}
    </TabRow>
  );
}
