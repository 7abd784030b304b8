// Reference implementation of the search: scans every version of every record for every query. Shares no code with the
// search under test.

import { foldCase } from "../../../src/base/text.ts";
import { canonicalInterface, startsInterfaceName, storedForms, stripAccents, wordStarts } from "./naive-text.ts";

/** Fields of a kind by their role in a match. */
interface Roles {
  readonly names?: readonly string[];
  readonly texts?: readonly string[];
  readonly numbers?: readonly string[];
  readonly addresses?: readonly string[];
  readonly macs?: readonly string[];
  readonly interfaces?: readonly string[];
}

/** Roles by kind, in result order. */
export const ROLES: Readonly<Record<string, Roles>> = {
  network: { names: ["name"], texts: ["description"] },
  subnet: { addresses: ["cidr"], names: ["name"], texts: ["description"] },
  vlan: { numbers: ["number"], names: ["name"], texts: ["description"] },
  host: { names: ["name", "hostname", "asset_tag", "serial_number"], texts: ["description"] },
  ip_address: { addresses: ["ip_address"], macs: ["mac_address"], names: ["name"] },
  port: { numbers: ["number"], names: ["type"] },
  if_entry: { interfaces: ["if_name", "if_descr"], names: ["if_alias"], macs: ["mac_address"] },
  tag: { names: ["name"], texts: ["description"] },
};
export const MATCH_KINDS = ["Exact", "Prefix", "Word", "Part"] as const;

type Fields = Record<string, any>;

/** A record's state from a timestamp on; null fields once it is deleted. */
export interface NaiveVersion {
  readonly at: string;
  readonly fields: Fields | null;
}

export interface NaiveRecord {
  readonly type: string;
  readonly id: string;
  readonly versions: NaiveVersion[];
}

export interface NaiveResult {
  readonly type: string;
  readonly id: string;
  readonly kind: string;
  readonly named_until: string | null;
  readonly deleted_at: string | null;
}

/** @param networks ids of the networks within reach; null for all */
export function searchNaively(
  records: readonly NaiveRecord[],
  q: string,
  at: string,
  networks: readonly string[] | null,
): NaiveResult[] {
  const found: Array<{ result: NaiveResult; order: readonly (string | number)[] }> = [];
  for (const record of records) {
    const versions = record.versions.filter((version) => version.at <= at);
    const live = versions.filter(({ fields }) => fields !== null);
    const last = live.at(-1);
    if (last?.fields == null || !isVisible(record.type, last.fields, networks)) continue;
    const end = versions.at(-1);
    const deletedAt = end !== undefined && end.fields === null ? end.at : null;
    const combined =
      deletedAt === null && last.fields.host_id !== undefined
        ? matchAcrossHost(records, record.type, last.fields, q, at, networks)
        : null;
    let kind = best(matchOf(record.type, last.fields, q), combined);
    let namedUntil: string | null = null;
    if (kind === null) {
      // The best match of a former name, and the latest of equal ones.
      for (const version of live.slice(0, -1)) {
        const formerMatch = isVisible(record.type, version.fields as Fields, networks)
          ? matchOf(record.type, version.fields as Fields, q)
          : null;
        if (formerMatch !== null && best(kind, formerMatch) === formerMatch) {
          kind = formerMatch;
          const laterVersions = versions.slice(versions.indexOf(version) + 1);
          namedUntil =
            laterVersions.find(({ fields }) => {
              const match = fields === null ? null : matchOf(record.type, fields, q);
              return match === null || best(match, formerMatch) !== match;
            })?.at ?? null;
        }
      }
    }
    if (kind === null) continue;
    const name = labelOf(record.type, last.fields);
    found.push({
      result: { type: record.type, id: record.id, kind, named_until: namedUntil, deleted_at: deletedAt },
      order: [
        Number(deletedAt !== null),
        MATCH_KINDS.indexOf(kind as "Exact"),
        Number(namedUntil !== null),
        Object.keys(ROLES).indexOf(record.type),
        foldCase(name),
        name,
        record.id,
      ],
    });
  }
  return found
    .sort((a, b) => {
      for (const [index, value] of a.order.entries()) {
        const other = b.order[index] as string | number;
        if (value !== other)
          return typeof value === "number"
            ? value - (other as number)
            : Buffer.compare(Buffer.from(value), Buffer.from(other as string));
      }
      return 0;
    })
    .map(({ result }) => result);
}

function isVisible(type: string, fields: Fields, networks: readonly string[] | null): boolean {
  if (type === "tag" || networks === null) return true;
  return networks.includes(type === "network" ? fields.id : fields.network_id);
}

function labelOf(type: string, fields: Fields): string {
  if (type === "vlan") return `${fields.number} ${fields.name}`;
  if (type === "port") return `${fields.number}/${fields.protocol}`;
  if (type === "if_entry") return fields.if_name || fields.if_descr || fields.id;
  return fields.cidr ?? fields.ip_address ?? fields.name;
}

function best<T extends string | null>(value: T, other: T): T {
  if (value === null || other === null) return value ?? other;
  return MATCH_KINDS.indexOf(value as "Exact") <= MATCH_KINDS.indexOf(other as "Exact") ? value : other;
}

/** Best match in which some words match the host and all others its child. */
function matchAcrossHost(
  records: readonly NaiveRecord[],
  type: string,
  fields: Fields,
  q: string,
  at: string,
  networks: readonly string[] | null,
): string | null {
  const host = records
    .find(({ id }) => id === fields.host_id)
    ?.versions.filter((version) => version.at <= at)
    .at(-1)?.fields;
  if (host == null || !isVisible("host", host, networks)) return null;
  let found: string | null = null;
  for (const words of tokenizations(q)) {
    if (words.length < 2) continue;
    const hostWords = words.filter((word) => hasWord("host", host, word));
    const childWords = words.filter((word) => !hostWords.includes(word));
    if (hostWords.length === 0 || childWords.length === 0) continue;
    const [hostKind, kind] = [matchWords("host", host, hostWords), matchWords(type, fields, childWords)];
    if (hostKind === null || kind === null) continue;
    // A number inside a name does not identify a host.
    if (hostKind === "Word" && hostWords.every((word) => !/\p{L}/u.test(word))) continue;
    found = best(found, best(hostKind, kind) === hostKind ? kind : hostKind);
  }
  return found;
}

/** Words of a query: as typed, and with an interface's type and number joined. */
function tokenizations(q: string): string[][] {
  const words = stripAccents(foldCase(q))
    .split(/\s+/)
    .filter((word) => word !== "");
  const joined: string[] = [];
  for (const word of words) {
    const previous = joined.at(-1);
    if (previous !== undefined && /^\d/.test(word) && canonicalInterface(previous + word) !== null)
      joined[joined.length - 1] = previous + word;
    else joined.push(word);
  }
  return joined.length === words.length ? [words] : [words, joined];
}

function matchOf(type: string, fields: Fields, q: string): string | null {
  let found: string | null = null;
  for (const words of tokenizations(q)) found = best(found, matchWords(type, fields, words));
  const vlan = /^vlan ?0*(\d+)$/.exec(tokenizations(q)[0]?.join(" ") ?? "")?.[1];
  if (type === "vlan" && vlan === String(fields.number)) found = "Exact";
  const typed = foldCase(q).trim();
  const digits = typed.replaceAll(/[-:.]/g, "");
  const isMac =
    /^[0-9a-f]{4,12}$/.test(digits) &&
    (digits === typed ||
      /^..?([:-])(..\1)*.{0,2}$/.test(typed) ||
      (/^.{1,4}\.(....\.)*.{0,4}$/.test(typed) && (/[a-f]/.test(typed) || typed.indexOf(".") === 4)));
  for (const field of ROLES[type]?.macs ?? []) {
    const index = (fields[field] ?? "").replaceAll(":", "").indexOf(digits);
    if (isMac && index >= 0) found = best(found, index > 0 ? "Part" : digits.length === 12 ? "Exact" : "Prefix");
  }
  return found;
}

function matchWords(type: string, fields: Fields, words: readonly string[]): string | null {
  const { names = [], numbers = [], addresses = [], interfaces = [] } = ROLES[type] as Roles;
  const combined = words.join(" ");
  const normalized = (field: string) =>
    stripAccents(foldCase(String(fields[field] ?? "")))
      .split(/[\s\p{Cc}]+/u)
      .filter((word) => word !== "")
      .join(" ");
  const isNumberedInterface = (field: string) => canonicalInterface(normalized(field)) !== null;
  const interfaceNames = interfaces.filter(isNumberedInterface).map(normalized);
  // An interface type with a number matches only as an interface name.
  const others = [...names, ...numbers, ...addresses, ...interfaces.filter((field) => !isNumberedInterface(field))]
    .map(normalized)
    .filter((text) => text !== "");
  if (
    others.includes(combined) ||
    interfaceNames.some((name) => canonicalInterface(combined) === canonicalInterface(name))
  )
    return "Exact";
  const interfaceWords = interfaces.flatMap((field) =>
    isNumberedInterface(field) ? [] : normalized(field).split(" "),
  );
  if (
    interfaceWords.some(
      (word) => canonicalInterface(word) !== null && canonicalInterface(word) === canonicalInterface(combined),
    )
  )
    return "Exact";
  if (others.some((text) => text.startsWith(combined))) return "Prefix";
  if (
    [...interfaceNames, ...interfaceWords].some(
      (name) => canonicalInterface(name) !== null && !/^\d/.test(combined) && startsInterfaceName(name, combined),
    )
  )
    return "Prefix";
  if (words.every((word) => hasWord(type, fields, word))) return "Word";
  const suffixes = addresses.flatMap((field) =>
    [...normalized(field).matchAll(/(?<=[.:])[0-9a-f]/g)].map(({ index }) => normalized(field).slice(index)),
  );
  return words.length === 1 && suffixes.some((tail) => tail.startsWith(combined)) ? "Part" : null;
}

function hasWord(type: string, fields: Fields, word: string): boolean {
  const { names = [], texts = [], numbers = [], addresses = [], macs = [], interfaces = [] } = ROLES[type] as Roles;
  const value = (field: string) =>
    fields[field] === null || fields[field] === undefined ? [] : [String(fields[field])];
  const starts = [
    ...[...names, ...texts, ...interfaces].flatMap(value).flatMap((text) => wordStarts(text).map(stripAccents)),
    ...[...numbers, ...addresses, ...macs].flatMap(value),
  ];
  return (
    storedForms(word).some((form) => starts.some((start) => start.startsWith(form))) ||
    interfaces
      .flatMap(value)
      .some((name) => [name, ...name.split(/\s+/)].some((part) => startsInterfaceName(part, word)))
  );
}
