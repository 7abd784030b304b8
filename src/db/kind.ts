// What the store has to know of a kind of record: its live table, the scopes it lives in, what it refers to.
// Knows no resource: each resource folder defines its kind with this interface.

import { integer, type SQLiteTableWithColumns, text } from "drizzle-orm/sqlite-core";
import type { Entity } from "../base/entity-words.ts";
import { ownValue } from "../base/fields.ts";
import { withoutInvisible } from "../base/visible.ts";
import type { CalledText } from "./called-words.ts";
import type { SearchTexts } from "./search-text.ts";
import type { Upcaster } from "./shape.ts";

/** What every version of every record carries, as it stands on the wire. */
export interface RecordBase {
  readonly id: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly valid_from: string;
  readonly lineage_id?: string | null;
}

/** What a command that creates or updates a record answers with. */
export type Written = Pick<RecordBase, "id">;

/** The columns of every live table; a kind adds what it is filtered, constrained and joined by. */
export const liveColumns = {
  n: integer().primaryKey(),
  organization_n: integer().notNull(),
  /** The transaction that wrote the newest version: the record's ETag. */
  sequence: integer().notNull(),
  /** The real thing among the living; null where several may be alike. */
  identity: text().unique(),
  composed: integer().notNull(),
  sort_keys: text(),
  members: text().notNull(),
};

// biome-ignore lint/suspicious/noExplicitAny: Drizzle's table type is parameterised by every column of every kind.
type LiveTable = SQLiteTableWithColumns<any>;

/**
 * The containers that lists are filtered by, outermost first, and the codes of their kinds: an id of any other kind
 * holds nothing. Every record lives in an organization as well.
 */
export const SCOPE_CODES = { network: 2, credential: 6, host: 7, if_entry: 9, service: 12, user: 15 } as const;
export type ScopeName = keyof typeof SCOPE_CODES;
export const SCOPES = Object.keys(SCOPE_CODES) as ScopeName[];

/** Observation fields: refreshed without a version, kept beside the ledger. */
export type ObservedField = "last_seen_at" | "last_discovery_id" | "last_used" | "last_login";
export type Observed = Partial<Record<ObservedField, string | null>>;

/** What a record refers to, and what becomes of the record when that is removed. */
export interface Reference<R extends RecordBase = RecordBase> {
  /** The name of the kind that is referred to. */
  readonly to: string;
  /**
   * Where the record has it. What ends in `_id` is kept as a live column (`host_id` as `host_n`), all else as links
   * of that relation.
   */
  readonly field: string;
  /** It stands in the way of the removal, unless a cascade is asked for. */
  readonly refuses?: true;
  /** The changed fields of a record that is left, without the reference. Absent or null: the record goes along. */
  readonly without?: (record: R, id: string) => Partial<OwnFields<R>> | null;
  /** Where one relation names records of several kinds: whether this record's names those of `to`. */
  readonly isMeant?: (record: R) => boolean;
}

export interface RelatedIds {
  readonly relation: string;
  readonly ids: readonly string[];
}

/** Stored as scopes are: a field that comes or goes, or a value that is not added at the end, takes a migration. */
export interface Groups<R extends RecordBase = RecordBase> {
  /** Fields with values of a vocabulary: who has one within a network. */
  readonly values?: { readonly [Name in keyof R & string]?: readonly string[] };
  /** Fields that name records, alone or in lists: who names one in any of these. */
  readonly names?: ReadonlyArray<keyof R & string>;
}

/** What a field's value is ordered by, unlike which it compares byte by byte. */
type SortKeys<R> = { readonly [Name in keyof R]?: (value: NonNullable<R[Name]>) => string };

export interface Kind<R extends RecordBase = RecordBase> extends Entity {
  /** The plural, as in paths and in the `changed_fields` of an owner: `if_entries`. */
  readonly plural: string;
  /**
   * In the ledger for ever, never given to another kind. Ascending in foreign-key direction: a kind refers to lower
   * codes only.
   */
  readonly code: number;
  /**
   * What brings versions of earlier shapes to today's, the first shape's first: to be added to, never changed. The
   * shape's number follows from it.
   */
  readonly upcasters?: readonly Upcaster[];
  readonly table: LiveTable;
  /** The live columns beyond liveColumns and those of the scopes. `n` resolves an id to its record number. */
  readonly columns?: (record: R, n: (id: string) => number) => Record<string, unknown>;
  /**
   * Scope → the field with the id of the record's container; a kind that is itself a scope names its own `id`. Who
   * reaches a record, in SQL as in commands, follows from the network here.
   */
  readonly scopes: { readonly [Scope in ScopeName]?: keyof R & ("id" | `${Scope}_id`) };
  /** That the field of its network may be null: such a record is of the organization as a whole, and reached by all. */
  readonly networkIsOptional?: true;
  /** What its records refer to, as far as a removal of that has to do something about them. */
  readonly references?: readonly Reference<R>[];
  /** The id lists and loose references of a record. */
  readonly links?: (record: R) => RelatedIds[];
  /** Records that show this one as a part, and under which field: they get a version when it changes. */
  readonly owners?: (record: R) => Array<{ kind: string; id: string; as: string }>;
  /** What its records are found and counted by besides containers, live and as of any instant. */
  readonly groups?: Groups<R>;
  readonly observed: readonly ObservedField[];
  /** How a field without a value stands in a list: as null, or not at all (handbook: api, "Values"). */
  readonly absent: "null" | "omitted";
  /** What people call a record, after the word for its kind; its `name` unless told otherwise. */
  readonly label?: (record: R) => string | undefined;
  /** The real thing that a record stands for, so that a later incarnation finds its lineage; null for none. */
  readonly identity: (record: OwnFields<R>) => string | null;
  /**
   * Whether two live records may not stand for the same thing, and how the conflict is named. `key`: what is unique,
   * where that is not the identity.
   */
  readonly unique: {
    field: string;
    value: (record: R) => unknown;
    key?: (record: R) => string;
    /**
     * Of a name, which people tell apart by what they see: the beginning that it shares with all it is compared with,
     * which is its container's.
     */
    seenWithin?: (record: R) => string;
  } | null;
  /**
   * By field, what orders lists where the value itself would not: textSortKey of a text, ipSortKey of an address. It is
   * kept with each version, where the field has a value.
   */
  readonly sortKeys?: SortKeys<R>;
  /**
   * The same, worked out of the field's value whenever a list is ordered by it: for what is listed less often than it is
   * written.
   */
  readonly orderKeys?: SortKeys<R>;
  /**
   * Its changes are not among those that everybody in its organization is told of, nor is a transaction of it alone.
   */
  readonly isApart?: true;
  /**
   * What people know a record by: its lists and the search of all kinds find it by these. Nothing of a record that is
   * known only by what it belongs to.
   */
  readonly called?: (record: R) => readonly CalledText[];
  /**
   * Its changes are told as those of the records that show it: among changes there are none of its own.
   */
  readonly isUntold?: true;
  /**
   * It never ends: what counted once is asked for at every instant since. No revert takes it back; what it is about says
   * by itself whether it still counts.
   */
  readonly isLasting?: true;
  /**
   * Fields that name parts whose changes are told of themselves: a version that changed nothing else is counted with
   * its part.
   */
  readonly toldParts?: readonly string[];
  /**
   * Fields with the ids of records that its changes are counted with, beside its organization and its network. `id`:
   * with itself.
   */
  readonly countedWith?: readonly (keyof R & ("id" | `${string}_id`))[];
  /** What finds another record besides, or this one by a trace of it. */
  readonly search?: {
    readonly texts: (record: R) => SearchTexts;
    /** The id of the record that is found: its host for an address. */
    readonly finds: (record: R) => string;
    /** Lists of this kind are searched as well, each record by its own texts. */
    readonly findsItself?: true;
  };
  /**
   * SQL for the parts composed into a list item where `composed` is 1: an expression for a JSON continuation, by the
   * record number `p.n`. `code` is the kind of the parts.
   */
  readonly composedSql?: { live: string; asOf: string; code: number };
}

/** A kind where its record's own fields do not matter. */
// biome-ignore lint/suspicious/noExplicitAny: a kind takes its own records and gives them, so no common supertype exists.
export type AnyKind = Kind<any>;

/** Operations as the ledger stores them. */
export const OPERATION = { Created: 1, Updated: 2, Deleted: 3 } as const;

/** What a stored code stands for. @throws Error for one that stands for nothing */
export function operationOf(code: number): keyof typeof OPERATION {
  const operation = OPERATIONS.find((name) => OPERATION[name] === code);
  if (operation === undefined) throw new Error(`kind: no operation has the code ${code}`);
  return operation;
}
const OPERATIONS = Object.keys(OPERATION) as Array<keyof typeof OPERATION>;

/** The wire's instants of a record's newest version are the ledger's; a kind's renderer never sets them. */
export type OwnFields<R extends RecordBase> = Omit<R, keyof RecordBase>;

/** That an object has no fields but a record's: a spread may bring others, unseen by the compiler. */
export type NoneBeside<R, T> = Readonly<Record<Exclude<keyof T, keyof R>, never>>;

/** The continuation of a record's members by its observation values, in the order of the kind's list. */
export function renderObserved(kind: AnyKind, values: Observed): string {
  let text = "";
  for (const field of kind.observed) {
    const value = values[field] ?? null;
    if (value === null && kind.absent === "omitted") continue;
    text += `,${JSON.stringify(field)}:${JSON.stringify(value)}`;
  }
  return text;
}

/** Observation values as they are stored, as the continuation of a JSON object's members; an empty text has none. */
export function parseObserved(observed: string): Observed {
  return observed === "" ? {} : (JSON.parse(`{${observed.slice(1)}}`) as Observed);
}

/** The inside of the JSON object that holds a record's own fields. */
export function renderMembers(record: object): string {
  return JSON.stringify(record).slice(1, -1);
}

/** The record whose own fields are the inside of a JSON object. @typeParam R its shape; stored texts are trusted */
export function parseMembers<R>(members: string): R {
  return JSON.parse(`{${members}}`) as R;
}

/** What stands in the live table's `identity`: only kinds whose things are unique keep it there. */
export function liveIdentity(kind: AnyKind, record: RecordBase): string | null {
  return kind.unique === null ? null : (kind.unique.key?.(record) ?? kind.identity(record));
}

/**
 * What no two records can newly have in common: of a name, what is seen of it. Those that already have it in common
 * stay as they are.
 */
export function seenIdentity(kind: AnyKind, record: RecordBase): string | null {
  const identity = liveIdentity(kind, record);
  return identity === null || kind.unique?.seenWithin === undefined ? identity : withoutInvisible(identity);
}

/** The live column that holds the record number of what a field names by its id: `network_n` of `network_id`. */
export function liveColumnOf(field: string): string {
  return field.replace(/id$/, "n");
}

/** The container of a record in a scope, by its id; null where it lives in none. */
export function containerId(kind: AnyKind, record: RecordBase, scope: ScopeName): string | null {
  const field = kind.scopes[scope];
  return field === undefined ? null : fieldValue(record, field);
}

/** All of its containers but the organization. */
export function containerIds(kind: AnyKind, record: RecordBase): string[] {
  const ids: string[] = [];
  for (const { field } of containersOf(kind)) {
    const id = fieldValue(record, field);
    if (id !== null) ids.push(id);
  }
  return ids;
}

/** What stands in the live columns beyond liveColumns. @param n what stands for an id: its record number */
export function ownColumns<Value>(
  kind: AnyKind,
  record: RecordBase,
  n: (id: string) => Value,
): Record<string, unknown> {
  const columns = kind.columns?.(record, n as never) ?? {};
  for (const { field, column } of containersOf(kind)) {
    if (column === "n") continue;
    const id = fieldValue(record, field);
    columns[column] = id === null ? null : n(id);
  }
  return columns;
}

const containers = new WeakMap<AnyKind, ReadonlyArray<{ readonly field: string; readonly column: string }>>();

/** Worked out once: every record that is written asks for it. */
function containersOf(kind: AnyKind) {
  let known = containers.get(kind);
  if (known === undefined) {
    known = Object.values(kind.scopes).map((field) => ({ field, column: liveColumnOf(field) }));
    containers.set(kind, known);
  }
  return known;
}

function fieldValue(record: RecordBase, field: string): string | null {
  return (ownValue(record, field) as string | null | undefined) ?? null;
}

/** A scope of the spans and the census. Below 2^53, so it may leave SQL. */
export function scopeKey(containerN: number, kind: Pick<AnyKind, "code">): number {
  return containerN * 64 + kind.code;
}

/** Above all scopes of containers. */
const VALUE_SCOPES = 2 ** 40;
/** Values of one vocabulary. */
const VALUES_MAX = 64;

/** The scope of those in a network that have a value; null for a field or a value that is no group. */
export function valueScope(kind: AnyKind, field: string, value: string, networkN: number): number | null {
  const fields = Object.entries(kind.groups?.values ?? {}) as Array<[string, readonly string[]]>;
  const fieldPlace = fields.findIndex(([name]) => name === field);
  const place = fields[fieldPlace]?.[1].indexOf(value) ?? -1;
  return place < 0 ? null : scopeKey(networkN, kind) + (fieldPlace * VALUES_MAX + place + 1) * VALUE_SCOPES;
}

/** All scopes that a record lives in: its organization's, those of its containers, and its groups. */
export function scopesOf(
  kind: AnyKind,
  record: RecordBase,
  organizationN: number,
  n: (id: string) => number,
): number[] {
  const scopes = [scopeKey(organizationN, kind)];
  for (const id of containerIds(kind, record)) scopes.push(scopeKey(n(id), kind));
  const { groups } = kind;
  if (groups === undefined) return scopes;
  const named = new Set<string>();
  for (const field of groups.names ?? []) {
    const ids: unknown = Reflect.get(record, field);
    if (typeof ids === "string") named.add(ids);
    else if (Array.isArray(ids)) for (const id of ids as string[]) named.add(id);
  }
  for (const id of named) scopes.push(scopeKey(n(id), kind));
  const networkId = containerId(kind, record, "network");
  for (const field in groups.values ?? {}) {
    const value = fieldValue(record, field);
    const scope = value === null || networkId === null ? null : valueScope(kind, field, value, n(networkId));
    if (scope !== null) scopes.push(scope);
  }
  return scopes;
}

/** Whether two versions of a record live in the same scopes. */
export function isInSameScopes(kind: AnyKind, one: RecordBase, other: RecordBase): boolean {
  if (!Bun.deepEquals(containerIds(kind, one), containerIds(kind, other))) return false;
  const { names = [], values = {} } = kind.groups ?? {};
  return [...names, ...Object.keys(values)].every((field) =>
    Bun.deepEquals(Reflect.get(one, field), Reflect.get(other, field)),
  );
}
