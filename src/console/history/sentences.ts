// Phrases for a transaction's summary: text, records and values, from the API's highlights. Pure.

import type { components } from "#api";
import { speedOf } from "../components/speed.ts";
import { kindWords } from "../kinds/kinds.ts";
import { shownName } from "../names/shown-name.ts";
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
  /** Number of changes that the phrase covers. */
  readonly count: number;
}

/** Maximum number of names per phrase; a count follows for the rest. */
const NAMES_MAX = 4;
/** Maximum length of a value, in characters. */
const VALUE_MAX = 60;
/** Maximum number of fields per record; a count follows for the rest. */
const FIELDS_MAX = 2;

/** Phrases for a transaction, most significant first. @param hostId host that the page shows; its name is omitted */
export function phrasesOf({ changes, rest }: Highlights, hostId?: string): Phrase[] {
  const remaining = new Map(rest.map((counted) => [restKey(counted), counted]));
  const groups = Map.groupBy(changes, (change) => groupOf(change, hostId));
  const phrases = [...groups.values()].map((group) => phraseOf(group, remaining, hostId));
  const others = [...remaining.values()].filter((counted) => !isImplied(counted, changes, rest.length));
  return [...phrases, ...others.map((counted) => restPhrase(counted, changes))];
}

/** Whether other changes imply these: services imply their bindings, and stale hosts their stale addresses. */
function isImplied({ entity_type, field }: Rest, changes: readonly Highlight[], restCount: number): boolean {
  if (entity_type === "binding") return changes.length > 0 || restCount > 1;
  if (entity_type !== "ip_address" || field !== "stale_since") return false;
  return changes.some((change) => "entity_type" in change && stalenessOf(change) !== null);
}

/** Group key: changes with the same key share a phrase. */
function groupOf(change: Highlight, hostId: string | undefined): string {
  if (!("entity_type" in change)) return JSON.stringify(change);
  const { type, entity_type, id, host } = change;
  if (type !== "Updated") return `${type} ${entity_type}`;
  const state = stateOf(change);
  if (state !== null) return `${state} ${host?.id === hostId ? "" : (host?.id ?? "")}`;
  const stale = stalenessOf(change);
  return stale === null ? id : `${stale} ${entity_type}`;
}

const ADMIN_STATES: Readonly<Record<string, string>> = { Up: "enabled", Down: "disabled", Testing: "set to testing" };

const OPER_STATES: Readonly<Record<string, string>> = {
  Up: "up",
  Down: "down",
  LowerLayerDown: "down (lower layer)",
  NotPresent: "not present",
  Testing: "testing",
  Dormant: "dormant",
  Unknown: "of unknown status",
};

/** New status of an interface whose admin or oper status changed, as a word; null for other changes. */
function stateOf({ entity_type, fields }: RecordHighlight): string | null {
  if (entity_type !== "if_entry") return null;
  const to = (name: string) => fields.find(({ field }) => field === name)?.to;
  const [admin, oper] = [to("admin_status"), to("oper_status")];
  if (typeof admin === "string" && admin !== "Up") return ownValue(ADMIN_STATES, admin) ?? admin;
  if (typeof oper === "string") return ownValue(OPER_STATES, oper) ?? oper;
  return typeof admin === "string" ? (ownValue(ADMIN_STATES, admin) ?? admin) : null;
}

function stalenessOf({ fields }: RecordHighlight): string | null {
  const [field, ...others] = fields;
  if (field?.field !== "stale_since" || others.length > 0) return null;
  return field.to === null ? "seen again" : "no longer seen";
}

/** Word for a kind, singular or plural. */
const kindWord = (type: string, count: number) => kindWords(type)[count === 1 ? 0 : 1];

function phraseOf(group: readonly Highlight[], remaining: Map<string, Rest>, hostId: string | undefined): Phrase {
  const [first] = group as [Highlight];
  if (first.type === "StationMoved") return { count: 1, pieces: stationPieces(first, hostId) };
  if (first.type === "AddressMoved") {
    const { id, ip_address, from, to } = first;
    const address = recordPiece("ip_address", { id, name: ip_address });
    return { count: 1, pieces: [address, " went from ", recordPiece("host", from), " to ", recordPiece("host", to)] };
  }
  const records = group as readonly RecordHighlight[];
  if (first.type !== "Updated") return createdOrDeletedPhrase(records as [RecordHighlight], remaining, hostId);
  const count = records.length;
  const state = stateOf(first);
  if (state !== null) {
    const names = listPieces(records.map(nameOf), count);
    return { count, pieces: [...names, ...ownerPieces(first.host, hostId), ` ${state}`] };
  }
  const stale = stalenessOf(first);
  if (stale !== null) {
    const names = records.map((changed) => [...nameOf(changed), ...ownerPieces(changed.host, hostId)]);
    const list = listPieces(names, count);
    const word = kindWord(first.entity_type, count);
    if (count === 1) return { count, pieces: [`${word} `, ...list, ` ${stale}`] };
    return { count, pieces: [`${groupedDigits(count)} ${word} ${stale}: `, ...list] };
  }
  return { count: 1, pieces: updatePieces(first, hostId) };
}

type StationMove = Extract<Highlight, { type: "StationMoved" }>;

function stationPieces({ station, mac_address, from, to }: StationMove, hostId: string | undefined): PhrasePiece[] {
  const portPieces = (port: StationMove["from"]) => [recordPiece("if_entry", port), ...ownerPieces(port.host, hostId)];
  const subject: PhrasePiece = station === null ? { piece: "mac", mac: mac_address } : recordPiece("host", station);
  return [subject, " moved from ", ...portPieces(from), " to ", ...portPieces(to)];
}

/** Phrase for created or deleted records. */
function createdOrDeletedPhrase(
  records: readonly [RecordHighlight, ...RecordHighlight[]],
  remaining: Map<string, Rest>,
  hostId: string | undefined,
): Phrase {
  const [{ type, entity_type, host }] = records;
  // Includes records of the same kind that the API only counted.
  const key = restKey({ entity_type, operation: type, field: null });
  const rest = remaining.get(key)?.count ?? 0;
  const count = records.length + rest;
  remaining.delete(key);
  // The owners of records that were only counted are unknown.
  const hasSameOwner = rest === 0 && records.every((other) => other.host?.id === host?.id);
  const names = records.map((other) => [...nameOf(other), ...(hasSameOwner ? [] : ownerPieces(other.host, hostId))]);
  const owner = hasSameOwner ? ownerPieces(host, hostId) : [];
  const word = kindWord(entity_type, count);
  const list = listPieces(names, count);
  const isNew = type === "Created";
  const single = isNew ? [`new ${word} `, ...list, ...owner] : [`${word} `, ...list, ...owner, " gone"];
  if (count === 1) return { count, pieces: single };
  const words = isNew ? `${groupedDigits(count)} new ${word}` : `${groupedDigits(count)} ${word}`;
  return { count, pieces: [words, ...owner, `${isNew ? "" : " gone"}: `, ...list] };
}

const moreOf = (count: number) => `${groupedDigits(count)} more`;

/** `a`, `a and b`, `a, b and 3 more`. @param count total, including records not named here */
function listPieces(names: readonly (readonly PhrasePiece[])[], count: number): PhrasePiece[] {
  const shown = names.slice(0, count > NAMES_MAX ? NAMES_MAX - 1 : NAMES_MAX);
  const pieces = shown.flatMap((name, index): PhrasePiece[] => {
    const isLast = index === shown.length - 1 && shown.length === count;
    return index === 0 ? [...name] : [isLast ? " and " : ", ", ...name];
  });
  return shown.length === count ? pieces : [...pieces, ` and ${moreOf(count - shown.length)}`];
}

function nameOf({ type, entity_type, id, name }: RecordHighlight): PhrasePiece[] {
  return [{ ...recordPiece(entity_type, { id, name }), ...(type === "Deleted" ? { isGone: true as const } : {}) }];
}

function recordPiece(type: string, { id, name }: NamedRecord): Extract<PhrasePiece, { piece: "record" }> {
  return { piece: "record", type, id, name };
}

function ownerPieces(host: NamedRecord | null, hostId: string | undefined): PhrasePiece[] {
  return host === null || host.id === hostId ? [] : [" of ", recordPiece("host", host)];
}

/** `name of the host: field old → new`. */
function updatePieces(change: RecordHighlight, hostId: string | undefined): PhrasePiece[] {
  const { entity_type, id, host, fields } = change;
  const isPageHost = entity_type === "host" && id === hostId;
  const isKnownByName = entity_type === "host" || entity_type === "if_entry" || entity_type === "ip_address";
  const prefix = isKnownByName ? [] : [`${kindWord(entity_type, 1)} `];
  const subject = isPageHost ? [] : [...prefix, ...nameOf(change), ...ownerPieces(host, hostId), ": "];
  const shown = fields.slice(0, FIELDS_MAX);
  const phrases = shown.flatMap((field, index) => [...(index === 0 ? [] : [", "]), ...fieldPieces(field)]);
  const more = fields.length - shown.length;
  const rest = more === 0 ? [] : [` and ${groupedDigits(more)} more ${more === 1 ? "field" : "fields"}`];
  return fields.length === 0 ? [...subject, "changed"] : [...subject, ...phrases, ...rest];
}

/** Whether a field name keeps its case within a sentence, since it starts with an abbreviation. */
const isAbbreviation = (name: string) => /^[A-Z]{2}/.test(name);

const fieldWord = (name: string) => {
  const title = fieldLabel(name.replace(/^custom_fields\./, ""));
  return isAbbreviation(title) ? title : title.charAt(0).toLowerCase() + title.slice(1);
};

function fieldPieces({ field, from, to }: RecordHighlight["fields"][number]): PhrasePiece[] {
  const name = fieldWord(field);
  if (from === undefined && to === undefined) return [`${name} changed`];
  if (Array.isArray(from) && Array.isArray(to)) {
    const textsOf = (items: readonly unknown[]) => items.map((item) => readable(field, item));
    const [before, after] = [textsOf(from), textsOf(to)];
    const value = (side: "from" | "to", sign: string, items: readonly string[]): PhrasePiece[] =>
      items.length === 0 ? [] : [" ", { piece: "value", side, value: `${sign}${items.join(", ")}` }];
    const added = after.filter((item) => !before.includes(item));
    const removed = before.filter((item) => !after.includes(item));
    return [name, ...value("to", "+", added), ...value("from", "−", removed)];
  }
  const prefixLength = typeof from === "string" && typeof to === "string" ? commonPrefixLength(from, to) : 0;
  const piece = (side: "from" | "to", value: unknown): PhrasePiece => ({
    piece: "value",
    side,
    value: prefixLength === 0 ? readable(field, value) : `…${shortened(String(value).slice(prefixLength))}`,
  });
  // The two values are inaccessible or look the same.
  if (from !== undefined && readable(field, from) === readable(field, to) && prefixLength === 0)
    return [`${name} changed`];
  return [`${name} `, ...(from === undefined ? [] : [piece("from", from)]), " → ", piece("to", to)];
}

/** Value as displayed. For an inaccessible or unnamed reference, the end of its id. */
function readable(field: string, value: unknown): string {
  if (value === null || value === undefined || value === "") return "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return field === "speed_bps" ? speedOf(value) : String(value);
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map((item) => readable(field, item)).join(", ");
  if (typeof value !== "object") return shortened(String(value));
  const { id, name } = value as NamedRecord;
  return shownName(id, name);
}

/** Length of the common prefix to omit from two long strings. */
function commonPrefixLength(a: string, b: string): number {
  if (Math.max(a.length, b.length) <= VALUE_MAX) return 0;
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  const word = a.lastIndexOf(" ", length) + 1;
  return word > VALUE_MAX / 2 ? word : 0;
}

function shortened(value: string): string {
  const characters = [...value];
  return characters.length <= VALUE_MAX ? value : `${characters.slice(0, VALUE_MAX).join("")}…`;
}

function restKey({ entity_type, operation, field }: Omit<Rest, "count">): string {
  return `${entity_type} ${operation} ${field}`;
}

/** Phrases by changed field; `%` is a subject such as `3 more interfaces`. */
const UPDATES: Readonly<Record<string, string>> = {
  fdb_macs: "MAC addresses at %",
  oper_status: "% up or down",
  admin_status: "% enabled or disabled",
  stale_since: "% no longer seen, or seen again",
};

const updated = (name: string | null, subject: string) =>
  (name === null ? "% changed" : (ownValue(UPDATES, name) ?? `${fieldWord(name)} of %`)).replace("%", () => subject);

/** Phrase for changes that were only counted. @param changes highlights; if they include the same field: "3 more …" */
function restPhrase({ entity_type, operation, field, count }: Rest, changes: readonly Highlight[]): Phrase {
  const isMore =
    operation === "Updated" &&
    changes.some(
      (change) => "entity_type" in change && change.entity_type === entity_type && change.fields[0]?.field === field,
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
