// Routes of the console and their places in the navigation. Each page loads on first use.

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
import type { Around } from "../lists/list-page.tsx";
import { PAGE_PATHS, type PagePath } from "../url/page-paths.ts";
import { type RouteMatch, routeOf } from "../url/route.ts";

/** Properties of a page: its route parameters. */
export interface PageProps {
  readonly params: Readonly<Record<string, string>>;
}

type PageComponent = ComponentType<PageProps>;

type LoadPage = () => Promise<PageComponent>;

const around = () => import("../networks/subnet-tabs.tsx").then(({ aroundSubnets }) => aroundSubnets);

/** Additional content around list pages. */
const AROUND: Readonly<Partial<Record<ListPath, () => Promise<() => Around>>>> = {
  "/subnets/list": around,
  "/subnets/ranges": around,
  "/discovery/schedules": () => import("../discovery/around-lists.tsx").then(({ aroundSchedules }) => aroundSchedules),
  "/discovery/ignored": () => import("../discovery/around-lists.tsx").then(({ aroundIgnored }) => aroundIgnored),
};

async function loadList(kind: ListedKind): Promise<PageComponent> {
  const parts = [import("../lists/list-page.tsx"), loadDetails(kind), AROUND[listPageOf(kind)]?.()] as const;
  const [{ listPage }, details, around] = await Promise.all(parts);
  return listPage(kind, details, around);
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
  "/changes": () => import("../changes/changes-page.tsx").then(({ ChangesPage }) => ChangesPage),
  "/changes/:sequence": () => import("../changes/transaction-page.tsx").then(({ TransactionPage }) => TransactionPage),
  "/compare": () => import("../changes/compare-page.tsx").then(({ ComparePage }) => ComparePage),
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
  /** Served outside of the console, by normal navigation. */
  readonly isOutside?: true;
}

function listEntry(kind: RecordKind): NavigationEntry {
  return { href: listPageOf(kind), title: kindTitle(kind) };
}

/** Lists of hosts and their parts, in navigation order. */
const HOST_LISTS: readonly RecordKind[] = ["host", "if_entry", "ip_address", "service", "port"];
/** All other lists with a path of one segment: the list of a new kind needs no entry here. */
const NETWORK_LISTS = LISTED_KINDS.filter((kind) => !HOST_LISTS.includes(kind) && /^\/[^/]+$/.test(listPageOf(kind)));

/** Groups in navigation order. */
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
    { href: "/handbook", title: "Handbook", isOutside: true },
    { href: "/docs", title: "API reference", isOutside: true },
  ],
];

/** Page of a path; null without one. */
export function pageOf(pathname: string): RouteMatch<PagePath> | null {
  return routeOf(PAGE_PATHS, pathname);
}

/**
 * Navigation place of a page: its own path, or the list of a record without one. The first-run wizard belongs to
 * discovery.
 */
export function belongingOf(path: string): string {
  const page = pageOf(path);
  if (page?.path === "/start") return "/discovery";
  const { kind = "" } = page?.params ?? {};
  return page?.path === "/records/:kind/:id" && isRecordKind(kind) ? listPageOf(kind) : path;
}

/** Whether a place is at or below a page. Only the start page itself belongs to the start. */
export function isBelow(href: string, place: string): boolean {
  return href === "/" ? place === "/" : `${place}/`.startsWith(`${href}/`);
}

const loaded = new Map<PagePath, PageComponent>();

/** Cached page component, or a promise of it. */
export function loadPage(path: PagePath): PageComponent | Promise<PageComponent> {
  const before = loaded.get(path);
  if (before !== undefined) return before;
  const kind = LISTS.get(path);
  const page = kind === undefined ? PAGES[path as keyof typeof PAGES]() : loadList(kind);
  return page.then((page) => {
    loaded.set(path, page);
    return page;
  });
}
