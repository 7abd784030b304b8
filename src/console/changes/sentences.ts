// Phrases for the summary of a transaction: text, linked records and values, built from the API's highlights. Similar
// changes share a phrase. Pure.

import type { components } from "#api";
import { kindWords } from "../kinds/kinds.ts";
import { shownName } from "../names/shown-name.ts";
import { speedOf } from "../parts/speed.ts";
import { groupedDigits } from "../text/digits.ts";
import { fieldLabel } from "../text/lists.ts";
import { ownValue } from "../text/own-value.ts";

type Highlights = components["schemas"]["TransactionHighlights"];
type Highlight = Highlights["changes"][number];
type RecordHighlight = Extract<Highlight, { entity_type: string }>;
type Rest = Highlights["rest"][number];
interface NamedRecord {
  readonly id: string;
  readonly name: string | null;
}

/** Part of a phrase. */
export type PhrasePiece =
  | string
  | {
      readonly piece: "record";
      readonly type: string;
      readonly id: string;
      readonly name: string | null;
      /** Whether to show the record before the transaction, which removed it. */
      readonly isGone?: true;
    }
  | { readonly piece: "mac"; readonly mac: string }
  | { readonly piece: "value"; readonly side: "from" | "to"; readonly value: string };

export interface Phrase {
  readonly pieces: readonly PhrasePiece[];
  /** Number of changes in the phrase. */
  readonly count: number;
}

/** Names listed per phrase; more are counted. */
const NAMES_MAX = 4;
/** Maximum length of a value, in characters. */
const VALUE_MAX = 60;
/** Fields listed per record; more are counted. */
const FIELDS_MAX = 2;

/**
 * Phrases of a transaction, most significant first.
 * @param hostId host of the page, whose name is omitted
 */
export function phrasesOf({ changes, rest }: Highlights, hostId?: string): Phrase[] {
  const left = new Map(rest.map((each) => [restKey(each), each]));
  const groups = Map.groupBy(changes, (change) => groupOf(change, hostId));
  const told = [...groups.values()].map((group) => phraseOf(group, left, hostId));
  const others = [...left.values()].filter((each) => !goesAlong(each, changes, rest.length));
  return [...told, ...others.map((each) => restPhrase(each, changes))];
}

/** Implied by other changes: bindings by their services, and addresses that became stale with their hosts. */
function goesAlong({ entity_type, field }: Rest, changes: readonly Highlight[], rests: number): boolean {
  if (entity_type === "binding") return changes.length > 0 || rests > 1;
  if (entity_type !== "ip_address" || field !== "stale_since") return false;
  return changes.some((change) => "entity_type" in change && staleness(change) !== null);
}

/** Key of the changes that share a phrase. */
function groupOf(change: Highlight, hostId: string | undefined): string {
  if (!("entity_type" in change)) return JSON.stringify(change);
  const { type, entity_type, id, host } = change;
  if (type !== "Updated") return `${type} ${entity_type}`;
  const state = stateOf(change);
  if (state !== null) return `${state} ${host?.id === hostId ? "" : (host?.id ?? "")}`;
  const stale = staleness(change);
  return stale === null ? id : `${stale} ${entity_type}`;
}

const ADMIN_STATES: Readonly<Record<string, string>> = { Up: "enabled", Down: "disabled", Testing: "set to testing" };

const OPER_STATES: Readonly<Record<string, string>> = {
  Up: "up",
  Down: "down",
  LowerLayerDown: "down, as what it stands on",
  NotPresent: "not present",
  Testing: "testing",
  Dormant: "dormant",
  Unknown: "of unknown status",
};

/** New status of an interface whose admin or oper status changed. */
function stateOf({ entity_type, fields }: RecordHighlight): string | null {
  if (entity_type !== "if_entry") return null;
  const to = (name: string) => fields.find(({ field }) => field === name)?.to;
  const [admin, oper] = [to("admin_status"), to("oper_status")];
  if (typeof admin === "string" && admin !== "Up") return ownValue(ADMIN_STATES, admin) ?? admin;
  if (typeof oper === "string") return ownValue(OPER_STATES, oper) ?? oper;
  return typeof admin === "string" ? (ownValue(ADMIN_STATES, admin) ?? admin) : null;
}

function staleness({ fields }: RecordHighlight): string | null {
  const [field, ...others] = fields;
  if (field?.field !== "stale_since" || others.length > 0) return null;
  return field.to === null ? "seen again" : "no longer seen";
}

/** Kind by its API name. */
const kindWord = (type: string, count: number) => kindWords(type)[count === 1 ? 0 : 1];

function phraseOf(group: readonly Highlight[], left: Map<string, Rest>, hostId: string | undefined): Phrase {
  const [first] = group as [Highlight];
  if (first.type === "StationMoved") return { count: 1, pieces: stationPieces(first, hostId) };
  if (first.type === "AddressMoved") {
    const { id, ip_address, from, to } = first;
    const address = record("ip_address", { id, name: ip_address });
    return { count: 1, pieces: [address, " went from ", record("host", from), " to ", record("host", to)] };
  }
  const records = group as readonly RecordHighlight[];
  if (first.type !== "Updated") return comingPhrase(records as [RecordHighlight], left, hostId);
  const state = stateOf(first);
  if (state !== null) {
    const owner = ownerPieces(first.host, hostId);
    return { count: records.length, pieces: [...listed(records.map(nameOf), records.length), ...owner, ` ${state}`] };
  }
  const stale = staleness(first);
  if (stale !== null) {
    const pieces = listed(
      records.map((each) => [...nameOf(each), ...ownerPieces(each.host, hostId)]),
      records.length,
    );
    const word = kindWord(first.entity_type, records.length);
    const before = records.length === 1 ? `${word} ` : `${groupedDigits(records.length)} ${word} ${stale}: `;
    return { count: records.length, pieces: [before, ...pieces, ...(records.length === 1 ? [` ${stale}`] : [])] };
  }
  return { count: 1, pieces: updatePieces(first, hostId) };
}

type StationMove = Extract<Highlight, { type: "StationMoved" }>;

function stationPieces({ station, mac_address, from, to }: StationMove, hostId: string | undefined): PhrasePiece[] {
  const port = (each: StationMove["from"]): PhrasePiece[] => [
    record("if_entry", each),
    ...ownerPieces(each.host, hostId),
  ];
  const who: PhrasePiece = station === null ? { piece: "mac", mac: mac_address } : record("host", station);
  return [who, " moved from ", ...port(from), " to ", ...port(to)];
}

/** Phrase for created or deleted records. */
function comingPhrase(
  records: readonly [RecordHighlight, ...RecordHighlight[]],
  left: Map<string, Rest>,
  hostId: string | undefined,
): Phrase {
  const [{ type, entity_type, host }] = records;
  // Includes the counted rest of the same kind.
  const key = restKey({ entity_type, operation: type, field: null });
  const rest = left.get(key)?.count ?? 0;
  const count = records.length + rest;
  left.delete(key);
  // Owners of counted records are unknown.
  const isOfOne = rest === 0 && records.every((each) => each.host?.id === host?.id);
  const names = records.map((each) => [...nameOf(each), ...(isOfOne ? [] : ownerPieces(each.host, hostId))]);
  const owner = isOfOne ? ownerPieces(host, hostId) : [];
  const word = kindWord(entity_type, count);
  const list = listed(names, count);
  const isNew = type === "Created";
  if (count === 1)
    return {
      count,
      pieces: isNew ? [`new ${word} `, ...list, ...owner] : [`${word} `, ...list, ...owner, " gone"],
    };
  const words = isNew ? `${groupedDigits(count)} new ${word}` : `${groupedDigits(count)} ${word}`;
  return { count, pieces: [words, ...owner, `${isNew ? "" : " gone"}: `, ...list] };
}

const moreOf = (count: number) => `${groupedDigits(count)} more`;

/** `a`, `a and b`, `a, b and 3 more`. @param count total, including records without a name here */
function listed(names: readonly (readonly PhrasePiece[])[], count: number): PhrasePiece[] {
  const shown = names.slice(0, count > NAMES_MAX ? NAMES_MAX - 1 : NAMES_MAX);
  const pieces = shown.flatMap((name, place): PhrasePiece[] => {
    const isLast = place === shown.length - 1 && shown.length === count;
    return place === 0 ? [...name] : [isLast ? " and " : ", ", ...name];
  });
  return shown.length === count ? pieces : [...pieces, ` and ${moreOf(count - shown.length)}`];
}

function nameOf({ type, entity_type, id, name }: RecordHighlight): PhrasePiece[] {
  return [{ ...record(entity_type, { id, name }), ...(type === "Deleted" ? { isGone: true as const } : {}) }];
}

function record(type: string, { id, name }: NamedRecord): Extract<PhrasePiece, { piece: "record" }> {
  return { piece: "record", type, id, name };
}

function ownerPieces(host: NamedRecord | null, hostId: string | undefined): PhrasePiece[] {
  return host === null || host.id === hostId ? [] : [" of ", record("host", host)];
}

/** `name of the record: field old → new`. */
function updatePieces(change: RecordHighlight, hostId: string | undefined): PhrasePiece[] {
  const { entity_type, id, host, fields } = change;
  const isWhole = entity_type === "host" && id === hostId;
  const isKnownByName = entity_type === "host" || entity_type === "if_entry" || entity_type === "ip_address";
  const subject = isWhole
    ? []
    : [
        ...(isKnownByName ? [] : [`${kindWord(entity_type, 1)} `]),
        ...nameOf(change),
        ...ownerPieces(host, hostId),
        ": ",
      ];
  const shown = fields.slice(0, FIELDS_MAX);
  const told = shown.flatMap((field, place): PhrasePiece[] => [...(place === 0 ? [] : [", "]), ...fieldPieces(field)]);
  const more = fields.length - shown.length;
  const rest = more === 0 ? [] : [` and ${groupedDigits(more)} more ${more === 1 ? "field" : "fields"}`];
  return fields.length === 0 ? [...subject, "changed"] : [...subject, ...told, ...rest];
}

/** Field names that keep their case within a sentence, since they start with an abbreviation. */
const isAbbreviation = (name: string) => /^[A-Z]{2}/.test(name);

const fieldWord = (name: string) => {
  const title = fieldLabel(name.replace(/^custom_fields\./, ""));
  return isAbbreviation(title) ? title : title.charAt(0).toLowerCase() + title.slice(1);
};

function fieldPieces({ field, from, to }: RecordHighlight["fields"][number]): PhrasePiece[] {
  const name = fieldWord(field);
  if (from === undefined && to === undefined) return [`${name} changed`];
  if (Array.isArray(from) && Array.isArray(to)) {
    const [before, after] = [from, to].map((items) => items.map((item) => readable(field, item))) as [
      string[],
      string[],
    ];
    const value = (side: "from" | "to", sign: string, items: readonly string[]): PhrasePiece[] =>
      items.length === 0 ? [] : [" ", { piece: "value", side, value: `${sign}${items.join(", ")}` }];
    const came = after.filter((item) => !before.includes(item));
    const went = before.filter((item) => !after.includes(item));
    return [name, ...value("to", "+", came), ...value("from", "−", went)];
  }
  const skipped = typeof from === "string" && typeof to === "string" ? alike(from, to) : 0;
  const told = (side: "from" | "to", value: unknown): PhrasePiece => ({
    piece: "value",
    side,
    value: skipped === 0 ? readable(field, value) : `…${shortened(String(value).slice(skipped))}`,
  });
  // Both inaccessible, or equal in display form.
  if (from !== undefined && readable(field, from) === readable(field, to) && skipped === 0) return [`${name} changed`];
  return [`${name} `, ...(from === undefined ? [] : [told("from", from)]), " → ", told("to", to)];
}

/** Display form. An inaccessible or unnamed reference is shown by the end of its id, to distinguish it from others. */
function readable(field: string, value: unknown): string {
  if (value === null || value === undefined || value === "") return "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return field === "speed_bps" ? speedOf(value) : String(value);
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map((each) => readable(field, each)).join(", ");
  if (typeof value !== "object") return shortened(String(value));
  const { id, name } = value as NamedRecord;
  return shownName(id, name);
}

/** Length of the common prefix of two long texts to omit. */
function alike(one: string, other: string): number {
  if (Math.max(one.length, other.length) <= VALUE_MAX) return 0;
  let same = 0;
  while (same < one.length && one[same] === other[same]) same += 1;
  const word = one.lastIndexOf(" ", same) + 1;
  return word > VALUE_MAX / 2 ? word : 0;
}

function shortened(value: string): string {
  const characters = [...value];
  return characters.length <= VALUE_MAX ? value : `${characters.slice(0, VALUE_MAX).join("")}…`;
}

function restKey({ entity_type, operation, field }: Omit<Rest, "count">): string {
  return `${entity_type} ${operation} ${field}`;
}

/** @param what such as `3 more interfaces` */
const updated = (name: string | null, what: string) => {
  switch (name) {
    case null:
      return `${what} changed`;
    case "fdb_macs":
      return `MAC addresses at ${what}`;
    case "oper_status":
      return `${what} up or down`;
    case "admin_status":
      return `${what} enabled or disabled`;
    case "stale_since":
      return `${what} no longer seen, or seen again`;
    default:
      return `${fieldWord(name)} of ${what}`;
  }
};

/** Phrase for counted changes. @param changes highlighted ones; counted changes of the same field are "more" */
function restPhrase({ entity_type, operation, field, count }: Rest, changes: readonly Highlight[]): Phrase {
  const isMore =
    operation === "Updated" &&
    changes.some(
      (each) => "entity_type" in each && each.entity_type === entity_type && each.fields[0]?.field === field,
    );
  const number = isMore ? moreOf(count) : groupedDigits(count);
  const kind = kindWord(entity_type, count);
  const words = {
    Created: `${number} new ${kind}`,
    Deleted: `${number} ${kind} gone`,
    Updated: updated(field, `${number} ${kind}`),
  };
  return { count, pieces: [words[operation]] };
}
