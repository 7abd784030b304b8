// Command palette entries: pages, records to create, actions of the current page, and keyboard shortcuts.

import { mayImport, TABLE } from "../bulk/table-import-slot.tsx";
import { keys } from "../components/keys.ts";
import { mayWrite, NEW } from "../editing/edit-slot.tsx";
import {
  EDITED_KINDS,
  kindTitle,
  kindWords,
  type ListPath,
  listPageOf,
  operationOn,
  RECORD_KINDS,
  type RecordKind,
} from "../kinds/kinds.ts";
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
import { formatLocal, urlTimestamp } from "../time/instant.ts";
import { parseTimeInput } from "../time/parse-time-input.ts";
import { zone } from "../time/zone.ts";
import { go, hrefHere, hrefOf } from "../url/location.ts";
import type { PagePath } from "../url/page-paths.ts";

export interface PaletteEntry {
  readonly group: string;
  readonly title: string;
  /** Additional search terms, not shown. */
  readonly keywords?: string;
  run(): void;
}

/** Paths without a route parameter. */
type PlainPath = Exclude<PagePath, `${string}:${string}`>;

/** Page titles in display order; other lists follow. */
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

/** Kinds that are created by dedicated forms in the settings. */
const SETTINGS_FORMS = [
  { title: credentialText.newOne, kind: "credential" },
  { title: "New user", kind: "user" },
  { title: "New key", kind: "api_key" },
] as const;

/** All entries in display order. */
export function paletteEntries(): PaletteEntry[] {
  const anywhere = [...pageEntries(), ...actionEntries()];
  // An action with a button on the page is listed once and started there, with the page's context.
  const here = currentPageEntries().map((entry) => ({
    ...entry,
    keywords: anywhere.find(({ title }) => title === entry.title)?.keywords ?? "",
  }));
  const elsewhere = anywhere.filter((entry) => here.every(({ title }) => title !== entry.title));
  return [...here, ...elsewhere, ...shortcutEntries()];
}

/** Entries for the page's buttons; running an entry clicks its button. */
function currentPageEntries(): PaletteEntry[] {
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
    // Table imports have their own entries, per kind.
    ({ title }, index) =>
      title !== "" && title !== "Import CSV" && entries.findIndex((entry) => entry.title === title) === index,
  );
}

/** Additional search terms for pages, by path. */
const KEYWORDS: Readonly<Record<string, string>> = {
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

function pageEntries(): PaletteEntry[] {
  const lists = RECORD_KINDS.map((kind) => [listPageOf(kind), kindTitle(kind)] as const);
  const consolePages = Object.entries<string>({ ...TITLES, ...Object.fromEntries(lists), ...TITLES })
    .filter(([path]) => (path === "/start" ? mayStart() : mayOpen(path)))
    .map(([path, title]) => ({
      group: "Go to",
      title,
      keywords: ownValue(KEYWORDS, path) ?? "",
      run: () => go(path === "/start" ? startHref() : hrefOf(path)),
    }));
  const externalPages = Object.entries({ "/handbook": "Handbook", "/docs": "API reference" }).map(([href, title]) => ({
    group: "Go to",
    title,
    keywords: ownValue(KEYWORDS, href) ?? "",
    run: () => window.location.assign(href),
  }));
  return [...consolePages, ...externalPages];
}

function actionEntries(): PaletteEntry[] {
  const create = (title: string, kind: RecordKind) => ({
    group: "Create",
    title,
    keywords: "add make",
    run: () => go(hrefOf(listPageOf(kind), { [NEW]: kind })),
  });
  const kindActions = EDITED_KINDS.flatMap((kind) => {
    const [singular, plural] = kindWords(kind);
    const importTable = () => go(hrefOf(listPageOf(kind), { [TABLE]: "yes" }));
    return [
      ...(mayWrite(kind, "create") ? [create(editText.newRecord(singular), kind)] : []),
      ...(mayImport(kind) ? [{ group: "Create", title: `Import ${plural} from CSV`, run: importTable }] : []),
    ];
  });
  const settingsForms = SETTINGS_FORMS.filter(({ kind }) => mayNow(operationOn("create", kind)));
  const scan = {
    group: "Start",
    title: "Scan now",
    keywords: "discover discovery sweep snmp",
    run: () => go(scanHref({ networkId: network.peek() ?? undefined })),
  };
  const signOutEntry = {
    group: "Account",
    title: "Sign out",
    keywords: "log out logout leave",
    run: () => void signOut(),
  };
  const forms = settingsForms.map(({ title, kind }) => create(title, kind));
  return [...kindActions, ...forms, ...(mayNow("createScan") ? [scan] : []), signOutEntry];
}

/** Entry for a typed timestamp; none if it is unreadable or ambiguous. */
export function instantEntries(typed: string): PaletteEntry[] {
  const parsed = parseTimeInput(typed, { nowMs: exactNow(), timeZone: zone.peek() });
  if (parsed.type !== "instant") return [];
  const title = `As of ${formatLocal(parsed.ms, zone.peek())}`;
  return [{ group: "On this page", title, run: () => go(hrefHere({ at: urlTimestamp(parsed.ms) })) }];
}

/** Entries for keyboard shortcuts, titled by their meaning. */
function shortcutEntries(): PaletteEntry[] {
  return keys.value.map(({ key, meaning, press }) => ({
    group: "Keyboard shortcuts",
    title: `${meaning} (${key})`,
    run: () => void press(new KeyboardEvent("keydown", { key })),
  }));
}

/** Entries in which every typed word starts a word: matches in the title first, in additional search terms last. */
export function entriesFor(entries: readonly PaletteEntry[], typed: string): PaletteEntry[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (text: string) => {
    const textWords = text.toLowerCase().split(/[\s(/]+/);
    return words.every((word) => textWords.some((textWord) => textWord.startsWith(word)));
  };
  if (words.length === 0) return [...entries];
  const found = entries.filter(({ title, group, keywords = "" }) => matches(`${title} ${group} ${keywords}`));
  const rankOf = ({ title, group }: PaletteEntry) =>
    title.toLowerCase().startsWith(typed.trim().toLowerCase()) ? 0 : matches(`${title} ${group}`) ? 1 : 2;
  return found.toSorted((a, b) => rankOf(a) - rankOf(b));
}
