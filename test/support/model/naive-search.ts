// Search of all kinds in plain code: scans every version of every record for every query. Must not use the code under
// test.

import { foldCase } from "../../../src/base/text.ts";
import { beginnings, beginsInterface, formsOf, interfaceOf, unmarked } from "./naive-text.ts";

/** Roles of the fields in a match. */
interface Roles {
  readonly names?: readonly string[];
  readonly texts?: readonly string[];
  readonly numbers?: readonly string[];
  readonly addresses?: readonly string[];
  readonly macs?: readonly string[];
  readonly interfaces?: readonly string[];
}

/** In answer order. */
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
export const KINDS_OF_MATCH = ["Exact", "Prefix", "Word", "Part"] as const;

type Fields = Record<string, any>;

/** A record's state for a period; without fields after its end. */
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

/** @param networks ids of the networks in reach; null for all */
export function searchNaively(
  records: readonly NaiveRecord[],
  q: string,
  at: string,
  networks: readonly string[] | null,
): NaiveResult[] {
  const found: Array<{ result: NaiveResult; order: readonly (string | number)[] }> = [];
  for (const record of records) {
    const versions = record.versions.filter((version) => version.at <= at);
    const alive = versions.filter(({ fields }) => fields !== null);
    const last = alive.at(-1);
    if (last?.fields == null || !isSeen(record.type, last.fields, networks)) continue;
    const end = versions.at(-1);
    const deletedAt = end !== undefined && end.fields === null ? end.at : null;
    const whole =
      deletedAt === null && last.fields.host_id !== undefined
        ? acrossHost(records, record.type, last.fields, q, at, networks)
        : null;
    let kind = best(matchOf(record.type, last.fields, q), whole);
    let namedUntil: string | null = null;
    if (kind === null) {
      // The best former name, of those the latest.
      for (const version of alive.slice(0, -1)) {
        const then = isSeen(record.type, version.fields as Fields, networks)
          ? matchOf(record.type, version.fields as Fields, q)
          : null;
        if (then !== null && best(kind, then) === then) {
          kind = then;
          const later = versions.slice(versions.indexOf(version) + 1);
          namedUntil =
            later.find(({ fields }) => {
              const match = fields === null ? null : matchOf(record.type, fields, q);
              return match === null || best(match, then) !== match;
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
        KINDS_OF_MATCH.indexOf(kind as "Exact"),
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
      for (const [place, one] of a.order.entries()) {
        const other = b.order[place] as string | number;
        if (one !== other)
          return typeof one === "number"
            ? one - (other as number)
            : Buffer.compare(Buffer.from(one), Buffer.from(other as string));
      }
      return 0;
    })
    .map(({ result }) => result);
}

function isSeen(type: string, fields: Fields, networks: readonly string[] | null): boolean {
  if (type === "tag" || networks === null) return true;
  return networks.includes(type === "network" ? fields.id : fields.network_id);
}

function labelOf(type: string, fields: Fields): string {
  if (type === "vlan") return `${fields.number} ${fields.name}`;
  if (type === "port") return `${fields.number}/${fields.protocol}`;
  if (type === "if_entry") return fields.if_name || fields.if_descr || fields.id;
  return fields.cidr ?? fields.ip_address ?? fields.name;
}

function best<T extends string | null>(one: T, other: T): T {
  if (one === null || other === null) return one ?? other;
  return KINDS_OF_MATCH.indexOf(one as "Exact") <= KINDS_OF_MATCH.indexOf(other as "Exact") ? one : other;
}

/** Some words match the host and all others its child. */
function acrossHost(
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
  if (host == null || !isSeen("host", host, networks)) return null;
  let found: string | null = null;
  for (const words of readings(q)) {
    if (words.length < 2) continue;
    const own = words.filter((word) => hasWord("host", host, word));
    const left = words.filter((word) => !own.includes(word));
    if (own.length === 0 || left.length === 0) continue;
    const [hostKind, kind] = [readAs("host", host, own), readAs(type, fields, left)];
    if (hostKind === null || kind === null) continue;
    // A number inside a name does not identify a host.
    if (hostKind === "Word" && own.every((word) => !/\p{L}/u.test(word))) continue;
    found = best(found, best(hostKind, kind) === hostKind ? kind : hostKind);
  }
  return found;
}

/** As typed, and with an interface's type and number joined to one word. */
function readings(q: string): string[][] {
  const words = unmarked(foldCase(q))
    .split(/\s+/)
    .filter((word) => word !== "");
  const joined: string[] = [];
  for (const word of words) {
    const before = joined.at(-1);
    if (before !== undefined && /^\d/.test(word) && interfaceOf(before + word) !== null)
      joined[joined.length - 1] = before + word;
    else joined.push(word);
  }
  return joined.length === words.length ? [words] : [words, joined];
}

function matchOf(type: string, fields: Fields, q: string): string | null {
  let found: string | null = null;
  for (const words of readings(q)) found = best(found, readAs(type, fields, words));
  const vlan = /^vlan ?0*(\d+)$/.exec(readings(q)[0]?.join(" ") ?? "")?.[1];
  if (type === "vlan" && vlan === String(fields.number)) found = "Exact";
  const typed = foldCase(q).trim();
  const digits = typed.replaceAll(/[-:.]/g, "");
  const isMac =
    /^[0-9a-f]{4,12}$/.test(digits) &&
    (digits === typed ||
      /^..?([:-])(..\1)*.{0,2}$/.test(typed) ||
      (/^.{1,4}\.(....\.)*.{0,4}$/.test(typed) && (/[a-f]/.test(typed) || typed.indexOf(".") === 4)));
  for (const field of ROLES[type]?.macs ?? []) {
    const place = (fields[field] ?? "").replaceAll(":", "").indexOf(digits);
    if (isMac && place >= 0) found = best(found, place > 0 ? "Part" : digits.length === 12 ? "Exact" : "Prefix");
  }
  return found;
}

function readAs(type: string, fields: Fields, words: readonly string[]): string | null {
  const { names = [], numbers = [], addresses = [], interfaces = [] } = ROLES[type] as Roles;
  const whole = words.join(" ");
  const plain = (field: string) =>
    unmarked(foldCase(String(fields[field] ?? "")))
      .split(/[\s\p{Cc}]+/u)
      .filter((word) => word !== "")
      .join(" ");
  const isNumbered = (field: string) => interfaceOf(plain(field)) !== null;
  const lines = interfaces.filter(isNumbered).map(plain);
  // A type with a number matches as such only.
  const others = [...names, ...numbers, ...addresses, ...interfaces.filter((field) => !isNumbered(field))]
    .map(plain)
    .filter((text) => text !== "");
  if (others.includes(whole) || lines.some((name) => interfaceOf(whole) === interfaceOf(name))) return "Exact";
  const within = interfaces.flatMap((field) => (isNumbered(field) ? [] : plain(field).split(" ")));
  if (within.some((word) => interfaceOf(word) !== null && interfaceOf(word) === interfaceOf(whole))) return "Exact";
  if (others.some((text) => text.startsWith(whole))) return "Prefix";
  if (
    [...lines, ...within].some(
      (name) => interfaceOf(name) !== null && !/^\d/.test(whole) && beginsInterface(name, whole),
    )
  )
    return "Prefix";
  if (words.every((word) => hasWord(type, fields, word))) return "Word";
  const tails = addresses.flatMap((field) =>
    [...plain(field).matchAll(/(?<=[.:])[0-9a-f]/g)].map(({ index }) => plain(field).slice(index)),
  );
  return words.length === 1 && tails.some((tail) => tail.startsWith(whole)) ? "Part" : null;
}

function hasWord(type: string, fields: Fields, word: string): boolean {
  const { names = [], texts = [], numbers = [], addresses = [], macs = [], interfaces = [] } = ROLES[type] as Roles;
  const value = (field: string) =>
    fields[field] === null || fields[field] === undefined ? [] : [String(fields[field])];
  const begun = [
    ...[...names, ...texts, ...interfaces].flatMap(value).flatMap((text) => beginnings(text).map(unmarked)),
    ...[...numbers, ...addresses, ...macs].flatMap(value),
  ];
  return (
    formsOf(word).some((form) => begun.some((each) => each.startsWith(form))) ||
    interfaces.flatMap(value).some((name) => [name, ...name.split(/\s+/)].some((each) => beginsInterface(each, word)))
  );
}
