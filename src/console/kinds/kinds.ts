// Record kinds: names, paths and capabilities. Plain data in the initial script; columns and forms load with pages.

import type { operations } from "#api";
import type { KindDetails } from "./details.ts";

interface KindEntry {
  readonly words: readonly [one: string, many: string];
  /** API path of the list, below /api/v1/. Without one, the kind has neither a list nor a history. */
  readonly path?: string;
  /** Page that lists records and creates them. */
  readonly list?: `/${string}`;
  /** Page of one record; defaults to the page shared by all kinds. */
  readonly page?: `/${string}/:id`;
  /** Whether that page can show any timestamp and has a history tab. */
  readonly hasTabs?: true;
  /** Scope of the changes counted on the record's page; defaults to the record alone. */
  readonly subject?: "host_id" | "subnet_id";
  /** Name templates, best first, with `{field}` for a value; defaults to `{name}`. */
  readonly nameTemplates?: readonly string[];
  /** Heading of the record's page; defaults to the record's name. */
  readonly heading?: string;
  /** Page that a search result opens; defaults to the record's page. */
  readonly resultPage?: `/${string}`;
  /** Word for a record in API messages, if different from the console's. */
  readonly apiWord?: string;
  /** Query that omits a record's parts, of which a device can have thousands. */
  readonly withoutParts?: Readonly<Record<string, unknown>>;
  /** Query that limits a history to the record's own versions. */
  readonly ownVersions?: Readonly<Record<string, unknown>>;
  /** Whether its records are parts of hosts. */
  readonly isHostPart?: true;
  /** Field with a record's scan targets: its address or prefix, or a host's address records. */
  readonly targetField?: string;
  /** Whether the form is generated from the schema; other kinds are edited on dedicated pages. */
  readonly isEdited?: true;
  /** Whether only scans write its records. */
  readonly isReadOnly?: true;
  /** Whether its records can carry tags. */
  readonly isTagged?: true;
  /** Whether its records belong to the organization, independent of the selected network. */
  readonly isOrganizationWide?: true;
  /** Whether lists of changes omit the kind. */
  readonly isUnlisted?: true;
  /** Loads columns, form fields and facts; a kind without them has no generated list. */
  readonly details?: () => Promise<KindDetails>;
}

/** Networks and hosts before their parts: the order in which changes are listed. */
const ENTRIES = {
  organization: { words: ["organization", "organizations"] },
  network: {
    words: ["network", "networks"],
    path: "networks",
    list: "/settings/networks",
    resultPage: "/hosts?network={id}",
    isEdited: true,
    isTagged: true,
    isOrganizationWide: true,
    details: () => import("./network.ts").then(({ networkDetails }) => networkDetails),
  },
  subnet: {
    words: ["subnet", "subnets"],
    path: "subnets",
    list: "/subnets/list",
    page: "/subnets/:id",
    hasTabs: true,
    subject: "subnet_id",
    nameTemplates: ["{cidr}"],
    targetField: "cidr",
    isEdited: true,
    isTagged: true,
    details: () => import("./subnet.ts").then(({ subnetDetails }) => subnetDetails),
  },
  ip_range: {
    words: ["range", "ranges"],
    path: "ip-ranges",
    list: "/subnets/ranges",
    nameTemplates: ["{first} – {last}"],
    isEdited: true,
    isTagged: true,
    details: () => import("./ip-range.ts").then(({ ipRangeDetails }) => ipRangeDetails),
  },
  vlan: {
    words: ["VLAN", "VLANs"],
    path: "vlans",
    list: "/vlans",
    page: "/vlans/:id",
    hasTabs: true,
    nameTemplates: ["{number} {name}"],
    heading: "VLAN {number}",
    isEdited: true,
    details: () => import("./vlan.ts").then(({ vlanDetails }) => vlanDetails),
  },
  host: {
    words: ["host", "hosts"],
    path: "hosts",
    list: "/hosts",
    page: "/hosts/:id",
    hasTabs: true,
    subject: "host_id",
    nameTemplates: ["{name}", "{hostname}"],
    withoutParts: { include_children: false },
    ownVersions: { include_children: false, selves: "own" },
    targetField: "ip_addresses",
    isEdited: true,
    isTagged: true,
    details: () => import("./host.ts").then(({ hostDetails }) => hostDetails),
  },
  ip_address: {
    words: ["address", "addresses"],
    path: "ip-addresses",
    list: "/addresses",
    nameTemplates: ["{ip_address}"],
    resultPage: "/hosts/{host_id}?tab=addresses",
    targetField: "ip_address",
    isHostPart: true,
    isEdited: true,
    details: () => import("./ip-address.ts").then(({ ipAddressDetails }) => ipAddressDetails),
  },
  port: {
    words: ["port", "ports"],
    path: "ports",
    list: "/ports",
    nameTemplates: ["{number}/{protocol}"],
    resultPage: "/hosts/{host_id}?tab=services",
    isHostPart: true,
    isEdited: true,
    details: () => import("./port.ts").then(({ portDetails }) => portDetails),
  },
  service: {
    words: ["service", "services"],
    path: "services",
    list: "/services",
    resultPage: "/hosts/{host_id}?tab=services",
    isHostPart: true,
    isEdited: true,
    isTagged: true,
    details: () => import("./service.ts").then(({ serviceDetails }) => serviceDetails),
  },
  binding: { words: ["binding", "bindings"], path: "bindings", list: "/services", nameTemplates: ["{type}"] },
  if_entry: {
    words: ["interface", "interfaces"],
    path: "if-entries",
    list: "/interfaces",
    page: "/interfaces/:id",
    hasTabs: true,
    nameTemplates: ["{if_name}", "{if_descr}", "#{if_index}"],
    apiWord: "interface entry",
    isHostPart: true,
    isEdited: true,
    details: () => import("./if-entry.ts").then(({ ifEntryDetails }) => ifEntryDetails),
  },
  component: {
    words: ["component", "components"],
    path: "components",
    list: "/components",
    nameTemplates: ["{serial_number}", "{class} {position}"],
    resultPage: "/hosts/{host_id}",
    isHostPart: true,
    isReadOnly: true,
    details: () => import("./component.ts").then(({ componentDetails }) => componentDetails),
  },
  schedule: {
    words: ["schedule", "schedules"],
    path: "discovery/schedules",
    list: "/discovery/schedules",
    page: "/discovery/schedules/:id",
    resultPage: "/discovery/schedules",
    isEdited: true,
    details: () => import("./schedule.ts").then(({ scheduleDetails }) => scheduleDetails),
  },
  ignored: {
    words: ["ignored record", "ignored records"],
    path: "discovery/ignored",
    list: "/discovery/ignored",
    nameTemplates: ["{label}"],
    resultPage: "/discovery/ignored",
    details: () => import("./ignored.ts").then(({ ignoredDetails }) => ignoredDetails),
  },
  credential: {
    words: ["credential", "credentials"],
    path: "credentials",
    list: "/settings/credentials",
    page: "/settings/credentials/:id",
  },
  tag: {
    words: ["tag", "tags"],
    path: "tags",
    list: "/settings/tags",
    resultPage: '/hosts?filter=tags.name = "{name}"',
    isEdited: true,
    isOrganizationWide: true,
    details: () => import("./tag.ts").then(({ tagDetails }) => tagDetails),
  },
  custom_field: {
    words: ["custom field", "custom fields"],
    path: "custom-fields",
    list: "/settings/custom-fields",
    nameTemplates: ["{label}"],
    isEdited: true,
    isOrganizationWide: true,
    details: () => import("./custom-field.ts").then(({ customFieldDetails }) => customFieldDetails),
  },
  marker: {
    words: ["marker", "markers"],
    path: "markers",
    list: "/settings/markers",
    resultPage: "/?at={marker}",
    isEdited: true,
    details: () => import("./marker.ts").then(({ markerDetails }) => markerDetails),
  },
  user: { words: ["user", "users"], path: "users", list: "/settings/people", nameTemplates: ["{name}", "{email}"] },
  api_key: { words: ["API key", "API keys"], path: "auth/keys", list: "/settings/keys", isUnlisted: true },
} as const satisfies Readonly<Record<string, KindEntry>>;

type Entries = typeof ENTRIES;

/** API names of the kinds with a history. */
export type RecordKind = KindsWith<{ readonly path: string }>;
/** Kinds whose records users edit, and so can restore. */
export type WrittenKind = Exclude<RecordKind, KindsWith<{ readonly isReadOnly: true }>>;
/** Kinds with a form generated from the schema. */
export type EditedKind = KindsWith<{ readonly isEdited: true }>;
/** Kinds whose records have dedicated pages that can show any timestamp. */
export type PagedKind = KindsWith<{ readonly hasTabs: true }>;
/** Kinds with a list generated from the schema. */
export type ListedKind = KindsWith<{ readonly details: unknown }>;
export type TaggedKind = KindsWith<{ readonly isTagged: true }>;
type KindsWith<Part> = { [Kind in keyof Entries]: Entries[Kind] extends Part ? Kind : never }[keyof Entries];

/** Pages that list records. */
export type ListPath = Entries[RecordKind]["list"];
/** Routes of single-record pages. */
export type RecordPath = Extract<Entries[RecordKind], { readonly page: string }>["page"];

export const isRecordKind = (kind: string): kind is RecordKind => entryOf(kind)?.path !== undefined;
export const isWrittenKind = (kind: RecordKind): kind is WrittenKind => entryOf(kind)?.isReadOnly !== true;
export const isListedKind = (kind: string): kind is ListedKind => entryOf(kind)?.details !== undefined;
export const isEditedKind = (kind: string | undefined): kind is EditedKind => entryOf(kind)?.isEdited === true;
export const isPagedKind = (kind: string): kind is PagedKind => entryOf(kind)?.hasTabs === true;
export const isTagged = (kind: string): kind is TaggedKind => entryOf(kind)?.isTagged === true;

/** All kinds, networks and hosts before their parts. */
export const KIND_NAMES: readonly string[] = Object.keys(ENTRIES);
export const RECORD_KINDS = KIND_NAMES.filter(isRecordKind);
export const EDITED_KINDS = RECORD_KINDS.filter(isEditedKind);
export const LISTED_KINDS = RECORD_KINDS.filter(isListedKind);

/** List pages of all kinds, without duplicates: bindings are listed with their services. */
export const LIST_PATHS: readonly ListPath[] = [...new Set(RECORD_KINDS.map(listPageOf))];
export const RECORD_PATHS: readonly RecordPath[] = RECORD_KINDS.flatMap((kind) => {
  const entry = ENTRIES[kind];
  return "page" in entry ? [entry.page] : [];
});

/** Entry of a kind; undefined for an unknown name, such as that of a kind added in a later version. */
export function entryOf(kind: string | undefined): KindEntry | undefined {
  return kind !== undefined && Object.hasOwn(ENTRIES, kind) ? ENTRIES[kind as keyof Entries] : undefined;
}

/** `VLAN` and `VLANs`; for an unknown kind, the API name with spaces. */
export function kindWords(kind: string): readonly [one: string, many: string] {
  const name = kind.replaceAll("_", " ");
  return entryOf(kind)?.words ?? [name, name];
}

/** `VLANs`, the title of the list. */
export function kindTitle(kind: string): string {
  return capital(kindWords(kind)[1]);
}

/** Capitalizes the first letter. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Kind referenced by a field: VLANs for `native_vlan_id` and `vlan_ids`; undefined for other fields. */
export function referencedKind(field: string): RecordKind | undefined {
  if (field === "lag_id" || field === "parent_id") return "if_entry";
  const name = field === "tags" ? "tag" : /^(.+)_ids?$/.exec(field)?.[1];
  return RECORD_KINDS.find((kind) => name === kind || name?.endsWith(`_${kind}`));
}

const loaded = new Map<ListedKind, KindDetails>();

/** Loads the details of a kind and caches them. */
export async function loadDetails(kind: ListedKind): Promise<KindDetails> {
  const details = loaded.get(kind) ?? (await ENTRIES[kind].details());
  loaded.set(kind, details);
  return details;
}

/** Cached details of a kind; undefined until loaded. */
export function loadedDetails(kind: ListedKind): KindDetails | undefined {
  return loaded.get(kind);
}

/** List page of a kind. */
export function listPageOf<Kind extends RecordKind>(kind: Kind): Entries[Kind]["list"] {
  return ENTRIES[kind].list;
}

type ApiPath<Kind extends RecordKind> = `/api/v1/${Entries[Kind]["path"]}`;

/** API path of a kind's list. */
export function apiPath<Kind extends RecordKind>(kind: Kind): ApiPath<Kind> {
  return `/api/v1/${ENTRIES[kind].path}` as ApiPath<Kind>;
}

/** `IfEntry` for `if_entry`, `IfEntries` for `if-entries`. */
type PascalCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Capitalize<Head>}${PascalCase<Tail>}`
  : Name extends `${infer Head}-${infer Tail}`
    ? `${Capitalize<Head>}${PascalCase<Tail>}`
    : Capitalize<Name>;

/** Operation id for one record; the compiler rejects operations missing from the API. */
type Operation<Verb extends string, Kind extends string> = `${Verb}${PascalCase<Kind>}`;

/** Operation id for one record: `updateIfEntry`. */
export function operationOn<Verb extends "create" | "update" | "delete" | "restore", Kind extends WrittenKind>(
  verb: Verb,
  kind: Kind,
): Operation<Verb, Kind> {
  return `${verb}${pascalCase(kind)}` as Operation<Verb, Kind>;
}

/** Operation id for many records: `updateIfEntries`. Operations missing from the API are never permitted. */
export function operationOnMany(verb: "list" | "update" | "import", kind: RecordKind): keyof operations {
  return `${verb}${pascalCase(ENTRIES[kind].path.split("/").at(-1) ?? "")}` as keyof operations;
}

function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|[_-])(\w)/g, (_, first: string) => first.toUpperCase());
}
