// Page components by route, and the navigation sections. Each page loads on first use.

import type { ComponentType } from "preact";
import {
  isRecordKind,
  kindTitle,
  LISTED_KINDS,
  type ListedKind,
  type ListPath,
  listPageOf,
  loadDetails,
  type RecordKind,
} from "../kinds/kinds.ts";
import type { ListExtras } from "../lists/list-page.tsx";
import { PAGE_PATHS, type PagePath } from "../url/page-paths.ts";
import { type RouteMatch, routeOf } from "../url/route.ts";

/** Properties of a page component: its route parameters. */
export interface PageProps {
  readonly params: Readonly<Record<string, string>>;
}

type PageComponent = ComponentType<PageProps>;

type LoadPage = () => Promise<PageComponent>;

const loadSubnetExtras = () => import("../networks/subnet-tabs.tsx").then(({ subnetExtras }) => subnetExtras);

/** Additional content around list pages. */
const LIST_EXTRAS: Readonly<Partial<Record<ListPath, () => Promise<() => ListExtras>>>> = {
  "/subnets/list": loadSubnetExtras,
  "/subnets/ranges": loadSubnetExtras,
  "/discovery/schedules": () => import("../discovery/list-extras.tsx").then(({ scheduleExtras }) => scheduleExtras),
  "/discovery/ignored": () => import("../discovery/list-extras.tsx").then(({ ignoredExtras }) => ignoredExtras),
};

async function loadList(kind: ListedKind): Promise<PageComponent> {
  const parts = [import("../lists/list-page.tsx"), loadDetails(kind), LIST_EXTRAS[listPageOf(kind)]?.()] as const;
  const [{ listPage }, details, extras] = await Promise.all(parts);
  return listPage(kind, details, extras);
}

const LISTS: ReadonlyMap<PagePath, ListedKind> = new Map(LISTED_KINDS.map((kind) => [listPageOf(kind), kind]));

const PAGES: Readonly<Record<Exclude<PagePath, ReturnType<typeof listPageOf<ListedKind>>>, LoadPage>> = {
  "/": () => import("../find/find-page.tsx").then(({ FindPage }) => FindPage),
  "/start": () => import("../first-run/start-page.tsx").then(({ StartPage }) => StartPage),
  "/hosts/:id": () => import("../hosts/host-page.tsx").then(({ HostPage }) => HostPage),
  "/hosts/:id/identity": () => import("../hosts/identity-page.tsx").then(({ HostIdentityPage }) => HostIdentityPage),
  "/interfaces/:id": () => import("../interfaces/interface-page.tsx").then(({ InterfacePage }) => InterfacePage),
  "/stations": () => import("../networks/stations-page.tsx").then(({ StationsPage }) => StationsPage),
  "/subnets": () => import("../networks/subnets-page.tsx").then(({ SubnetsPage }) => SubnetsPage),
  "/subnets/:id": () => import("../networks/subnet-page.tsx").then(({ SubnetPage }) => SubnetPage),
  "/vlans/:id": () => import("../networks/vlan-page.tsx").then(({ VlanPage }) => VlanPage),
  "/conflicts": () => import("../networks/conflicts-page.tsx").then(({ ConflictsPage }) => ConflictsPage),
  "/changes": () => import("../history/changes-page.tsx").then(({ ChangesPage }) => ChangesPage),
  "/changes/:sequence": () => import("../history/transaction-page.tsx").then(({ TransactionPage }) => TransactionPage),
  "/compare": () => import("../history/compare-page.tsx").then(({ ComparePage }) => ComparePage),
  "/discovery": () => import("../discovery/scans-page.tsx").then(({ ScansPage }) => ScansPage),
  "/discovery/schedules/:id": () => import("../discovery/schedule-page.tsx").then(({ SchedulePage }) => SchedulePage),
  "/discovery/waiting": () => import("../discovery/waiting-page.tsx").then(({ WaitingPage }) => WaitingPage),
  "/discovery/:id": () => import("../discovery/scan-page.tsx").then(({ ScanPage }) => ScanPage),
  "/records/:kind/:id": () => import("../records/plain-record-page.tsx").then(({ PlainRecordPage }) => PlainRecordPage),
  "/ledger": () => import("../ledger/ledger-page.tsx").then(({ LedgerPage }) => LedgerPage),
  "/settings": () => import("../settings/account-page.tsx").then(({ AccountPage }) => AccountPage),
  "/settings/organization": () =>
    import("../settings/organization-page.tsx").then(({ OrganizationPage }) => OrganizationPage),
  "/settings/people": () => import("../settings/people-page.tsx").then(({ PeoplePage }) => PeoplePage),
  "/settings/keys": () => import("../settings/keys-page.tsx").then(({ KeysPage }) => KeysPage),
  "/settings/credentials": () =>
    import("../settings/credentials-page.tsx").then(({ CredentialsPage }) => CredentialsPage),
  "/settings/credentials/:id": () =>
    import("../settings/credential-page.tsx").then(({ CredentialPage }) => CredentialPage),
  "/settings/backups": () => import("../settings/backups-page.tsx").then(({ BackupsPage }) => BackupsPage),
  "/settings/retention": () => import("../settings/retention-page.tsx").then(({ RetentionPage }) => RetentionPage),
  "/settings/appliance": () => import("../settings/appliance-page.tsx").then(({ AppliancePage }) => AppliancePage),
  "/settings/log": () => import("../settings/log-page.tsx").then(({ LogPage }) => LogPage),
  "/settings/about": () => import("../settings/about-page.tsx").then(({ AboutPage }) => AboutPage),
  "/map": () => import("../map/map-page.tsx").then(({ MapPage }) => MapPage),
};

interface NavigationEntry {
  readonly href: string;
  readonly title: string;
  /** Whether the page is outside the console and opens by normal navigation. */
  readonly isExternal?: true;
}

function listEntry(kind: RecordKind): NavigationEntry {
  return { href: listPageOf(kind), title: kindTitle(kind) };
}

/** Lists of hosts and their parts, in navigation order. */
const HOST_LISTS: readonly RecordKind[] = ["host", "if_entry", "ip_address", "service", "port"];
/** All other lists whose path has one segment, so that the list of a new kind needs no entry here. */
const NETWORK_LISTS = LISTED_KINDS.filter((kind) => !HOST_LISTS.includes(kind) && /^\/[^/]+$/.test(listPageOf(kind)));

/** Groups of entries in navigation order. */
export const NAVIGATION: readonly (readonly NavigationEntry[])[] = [
  [{ href: "/", title: "Find" }],
  [...HOST_LISTS.map(listEntry), { href: "/stations", title: "Stations" }],
  [
    { href: "/subnets", title: kindTitle("subnet") },
    ...NETWORK_LISTS.map(listEntry),
    { href: "/conflicts", title: "Conflicts" },
  ],
  [{ href: "/map", title: "Map" }],
  [
    { href: "/changes", title: "Changes" },
    { href: "/compare", title: "Compare" },
  ],
  [
    { href: "/discovery", title: "Discovery" },
    { href: "/ledger", title: "Ledger" },
    { href: "/settings", title: "Settings" },
  ],
  [
    { href: "/handbook", title: "Handbook", isExternal: true },
    { href: "/docs", title: "API reference", isExternal: true },
  ],
];

/** Route that matches a path; null if there is none. */
export function pageOf(pathname: string): RouteMatch<PagePath> | null {
  return routeOf(PAGE_PATHS, pathname);
}

/** Section of a page in the navigation: its path, or the list for a generic record page; the wizard is in discovery. */
export function sectionOf(path: string): string {
  const page = pageOf(path);
  if (page?.path === "/start") return "/discovery";
  const { kind = "" } = page?.params ?? {};
  return page?.path === "/records/:kind/:id" && isRecordKind(kind) ? listPageOf(kind) : path;
}

/** Whether a section is at or below a page; only the start page itself is within the start page. */
export function isPageWithin(href: string, section: string): boolean {
  return href === "/" ? section === "/" : `${section}/`.startsWith(`${href}/`);
}

const loaded = new Map<PagePath, PageComponent>();

/** Page component if cached, otherwise a promise of it. */
export function loadPage(path: PagePath): PageComponent | Promise<PageComponent> {
  const cached = loaded.get(path);
  if (cached !== undefined) return cached;
  const kind = LISTS.get(path);
  const page = kind === undefined ? PAGES[path as keyof typeof PAGES]() : loadList(kind);
  return page.then((page) => {
    loaded.set(path, page);
    return page;
  });
}
