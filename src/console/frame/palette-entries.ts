// Entries of the command palette: pages, records to create, actions of the current page, and keys.

import { mayImport, TABLE } from "../bulk/table-place.tsx";
import { mayWrite, NEW } from "../editing/edit-place.tsx";
import {
  EDITED_KINDS,
  kindTitle,
  kindWords,
  type ListPath,
  listPageOf,
  operationOn,
  RECORD_KINDS,
} from "../kinds/kinds.ts";
import { keys } from "../parts/keys.ts";
import { scanHref } from "../scanning/scan-link.ts";
import { mayStart, startHref } from "../scanning/start-link.tsx";
import { mayNow, signOut } from "../session/me.ts";
import { mayOpen } from "../settings/areas.ts";
import { credentialText } from "../text/credentials.ts";
import { editText } from "../text/editing.ts";
import { ownValue } from "../text/own-value.ts";
import { settingsText } from "../text/settings.ts";
import { network } from "../time/at.ts";
import { exactNow } from "../time/clock.ts";
import { addressInstant, formatLocal } from "../time/instant.ts";
import { readSaid } from "../time/said.ts";
import { zone } from "../time/zone.ts";
import { go, hrefHere, hrefOf } from "../url/location.ts";
import type { PagePath } from "../url/page-paths.ts";

export interface PaletteEntry {
  readonly group: string;
  readonly title: string;
  /** Further search terms, not shown. */
  readonly also?: string;
  run(): void;
}

/** Paths without a record. */
type PlainPath = Exclude<PagePath, `${string}:${string}`>;

/** In order; other lists follow. */
const TITLES: Readonly<Record<Exclude<PlainPath, ListPath>, string> & Partial<Record<ListPath, string>>> = {
  "/": "Find",
  "/start": "Get started",
  "/hosts": kindTitle("host"),
  "/interfaces": kindTitle("if_entry"),
  "/addresses": kindTitle("ip_address"),
  "/services": kindTitle("service"),
  "/ports": kindTitle("port"),
  "/stations": "Stations",
  "/subnets": kindTitle("subnet"),
  "/subnets/list": "Subnets as a list",
  "/subnets/ranges": kindTitle("ip_range"),
  "/vlans": kindTitle("vlan"),
  "/conflicts": "Conflicts",
  "/changes": "Changes",
  "/compare": "Compare",
  "/map": "Map",
  "/discovery": "Discovery",
  "/discovery/schedules": kindTitle("schedule"),
  "/discovery/ignored": "Ignored",
  "/discovery/waiting": "Waiting for an Admin",
  "/ledger": "Ledger",
  "/settings": "Account",
  "/settings/organization": settingsText.tabs.organization,
  "/settings/people": settingsText.tabs.people,
  "/settings/keys": kindTitle("api_key"),
  "/settings/credentials": kindTitle("credential"),
  "/settings/networks": kindTitle("network"),
  "/settings/tags": kindTitle("tag"),
  "/settings/custom-fields": kindTitle("custom_field"),
  "/settings/markers": kindTitle("marker"),
  "/settings/backups": settingsText.tabs.backups,
  "/settings/retention": settingsText.tabs.retention,
  "/settings/appliance": settingsText.tabs.appliance,
  "/settings/log": settingsText.tabs.log,
  "/settings/about": settingsText.tabs.about,
};

/** Records created by dedicated forms in the settings. */
const SETTINGS_FORMS = [
  { title: credentialText.newOne, kind: "credential" },
  { title: "New user", kind: "user" },
  { title: "New key", kind: "api_key" },
] as const;

/** All entries in display order. */
export function paletteEntries(): PaletteEntry[] {
  const anywhere = [...pages(), ...makings()];
  // An action with a button on the page is listed once and started there, with the page's context.
  const here = onPage().map((entry) => ({
    ...entry,
    also: anywhere.find(({ title }) => title === entry.title)?.also ?? "",
  }));
  const elsewhere = anywhere.filter((entry) => here.every(({ title }) => title !== entry.title));
  return [...here, ...elsewhere, ...ofKeys()];
}

/** Buttons of the page; running an entry clicks its button. */
function onPage(): PaletteEntry[] {
  const buttons = document.querySelectorAll<HTMLElement>(
    "main .page-actions :is(button, a), main .list-tools button, main .record-makes button",
  );
  const entries = [...buttons]
    .filter((button) => button.offsetParent !== null && !button.hasAttribute("disabled"))
    .map((button) => ({
      group: "On this page",
      title: (button.getAttribute("aria-label") ?? button.textContent).trim(),
      run: () => button.click(),
    }));
  return entries.filter(
    // Table imports are listed per kind elsewhere.
    ({ title }, at) =>
      title !== "" && title !== "Import CSV" && entries.findIndex((each) => each.title === title) === at,
  );
}

/** By path: further search terms for a page. */
const ALSO: Readonly<Record<string, string>> = {
  "/": "search locate where who had",
  "/hosts": "devices machines stale new",
  "/interfaces": "unused ports flapping",
  "/addresses": "ips",
  "/stations": "macs unknown",
  "/subnets": "free addresses prefixes ipam utilization",
  "/subnets/ranges": "dhcp reserved reservations",
  "/conflicts": "duplicates double",
  "/changes": "undo revert history audit activity",
  "/compare": "diff difference",
  "/map": "topology cables links",
  "/discovery": "scans",
  "/ledger": "hash verify verification audit",
  "/settings": "password sessions time zone preferences profile",
  "/settings/people": "users roles members",
  "/settings/keys": "tokens",
  "/settings/credentials": "snmp communities secrets",
  "/settings/backups": "restore copies",
  "/settings/retention": "prune pruning",
  "/settings/appliance": "disk memory status certificate",
  "/settings/about": "version licences licenses",
  "/handbook": "help manual documentation",
  "/docs": "openapi swagger curl",
};

function pages(): PaletteEntry[] {
  const lists = RECORD_KINDS.map((kind) => [listPageOf(kind), kindTitle(kind)] as const);
  const own = Object.entries<string>({ ...TITLES, ...Object.fromEntries(lists), ...TITLES })
    .filter(([path]) => (path === "/start" ? mayStart() : mayOpen(path)))
    .map(([path, title]) => ({
      group: "Go to",
      title,
      also: ownValue(ALSO, path) ?? "",
      run: () => go(path === "/start" ? startHref() : hrefOf(path)),
    }));
  const outside = [
    { href: "/handbook", title: "Handbook" },
    { href: "/docs", title: "API reference" },
  ].map(({ href, title }) => ({
    group: "Go to",
    title,
    also: ownValue(ALSO, href) ?? "",
    run: () => window.location.assign(href),
  }));
  return [...own, ...outside];
}

function makings(): PaletteEntry[] {
  const made = EDITED_KINDS.flatMap((kind) => {
    const list = listPageOf(kind);
    const [one, many] = kindWords(kind);
    const making = {
      group: "Create",
      title: editText.newOne(one),
      also: "add make",
      run: () => go(hrefOf(list, { [NEW]: kind })),
    };
    const table = {
      group: "Create",
      title: `Import ${many} from CSV`,
      run: () => go(hrefOf(list, { [TABLE]: "yes" })),
    };
    return [...(mayWrite(kind, "create") ? [making] : []), ...(mayImport(kind) ? [table] : [])];
  });
  const settled = SETTINGS_FORMS.filter(({ kind }) => mayNow(operationOn("create", kind))).map(({ title, kind }) => ({
    group: "Create",
    title,
    also: "add make",
    run: () => go(hrefOf(listPageOf(kind), { [NEW]: kind })),
  }));
  const scan = {
    group: "Start",
    title: "Scan now",
    also: "discover discovery sweep snmp",
    run: () => go(scanHref({ networkId: network.peek() ?? undefined })),
  };
  const leave = {
    group: "Account",
    title: "Sign out",
    also: "log out logout leave",
    run: () => void signOut(),
  };
  return [...made, ...settled, ...(mayNow("createScan") ? [scan] : []), leave];
}

/** Entry for a typed instant; empty if unreadable or ambiguous. */
export function instantEntries(typed: string): PaletteEntry[] {
  const said = readSaid(typed, { nowMs: exactNow(), timeZone: zone.peek() });
  if (said.type !== "instant") return [];
  const title = `As of ${formatLocal(said.ms, zone.peek())}`;
  return [{ group: "On this page", title, run: () => go(hrefHere({ at: addressInstant(said.ms) })) }];
}

/** Entries named by their function. */
function ofKeys(): PaletteEntry[] {
  return keys.value.map(({ key, meaning, press }) => ({
    group: "Keys",
    title: `${meaning} (${key})`,
    run: () => void press(new KeyboardEvent("keydown", { key })),
  }));
}

/** Entries with a word prefix for every typed word: matches by title first, matches by further search terms last. */
export function entriesFor(entries: readonly PaletteEntry[], typed: string): PaletteEntry[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (text: string) => {
    const own = text.toLowerCase().split(/[\s(/]+/);
    return words.every((word) => own.some((each) => each.startsWith(word)));
  };
  if (words.length === 0) return [...entries];
  const found = entries.filter(({ title, group, also = "" }) => has(`${title} ${group} ${also}`));
  const rankOf = ({ title, group }: PaletteEntry) =>
    title.toLowerCase().startsWith(typed.trim().toLowerCase()) ? 0 : has(`${title} ${group}`) ? 1 : 2;
  return found.toSorted((a, b) => rankOf(a) - rankOf(b));
}
