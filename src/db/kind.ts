// Record kind definition: live table, scopes and references. Each resource directory implements this interface.
// Independent of any resource.

import { integer, type SQLiteTableWithColumns, text } from "drizzle-orm/sqlite-core";
import type { Entity } from "../base/entity-words.ts";
import { ownValue } from "../base/fields.ts";
import { withoutInvisible } from "../base/visible.ts";
import type { IndexedName } from "./name-entries.ts";
import type { SearchTexts } from "./search-text.ts";
import type { Upcaster } from "./shape.ts";

/** Fields that every version of every record carries, in wire format. */
export interface RecordBase {
  readonly id: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly valid_from: string;
  readonly lineage_id?: string | null;
}

/** Result of a command that creates or updates a record. */
export type Written = Pick<RecordBase, "id">;

/** Columns common to all live tables. A kind adds those for its filters, constraints and joins. */
export const liveColumns = {
  n: integer().primaryKey(),
  organization_n: integer().notNull(),
  /** Transaction that wrote the newest version: the record's ETag. */
  sequence: integer().notNull(),
  /** Unique identity among live records; null if several records may be alike. */
  identity: text().unique(),
  composed: integer().notNull(),
  sort_keys: text(),
  members: text().notNull(),
};

// biome-ignore lint/suspicious/noExplicitAny: Drizzle's table type is parameterised by every column of every kind.
type LiveTable = SQLiteTableWithColumns<any>;

/**
 * Containers for list filters, outermost first, and their kind codes; ids of other kinds contain nothing. In addition,
 * every record belongs to an organization.
 */
export const SCOPE_CODES = { network: 2, credential: 6, host: 7, if_entry: 9, service: 12, user: 15 } as const;
export type ScopeName = keyof typeof SCOPE_CODES;
export const SCOPES = Object.keys(SCOPE_CODES) as ScopeName[];

/** Observation fields: refreshed without a new version, stored outside the ledger. */
export type ObservedField = "last_seen_at" | "last_discovery_id" | "last_used" | "last_login";
export type Observed = Partial<Record<ObservedField, string | null>>;

/** A reference from one record to another, and its effect when the target is removed. */
export interface Reference<R extends RecordBase = RecordBase> {
  /** Name of the target's kind. */
  readonly to: string;
  /**
   * Field with the reference. A field ending in `_id` is stored as a live column (`host_id` as `host_n`), any other as
   * links of that relation.
   */
  readonly field: string;
  /** Blocks removal of the target unless a cascade is requested. */
  readonly refuses?: true;
  /** Changed fields of the surviving record without the reference. Absent or null: the record is removed as well. */
  readonly without?: (record: R, id: string) => Partial<OwnFields<R>> | null;
  /** For relations with targets of several kinds: whether this record's target is of kind `to`. */
  readonly matchesTarget?: (record: R) => boolean;
}

export interface RelatedIds {
  readonly relation: string;
  readonly ids: readonly string[];
}

/** Stored as scopes. Adding or removing a field, or inserting a value anywhere but at the end, requires a migration. */
export interface Groups<R extends RecordBase = RecordBase> {
  /** Enum fields: groups records by value within a network. */
  readonly values?: { readonly [Name in keyof R & string]?: readonly string[] };
  /** Reference fields, single or lists: groups records by the referenced record. */
  readonly names?: ReadonlyArray<keyof R & string>;
}

/**
 * Partial index of `history_versions` by transaction: the versions that changed a field, `instr(changed, '"field"') > 0`.
 */
export interface ChangesIndex {
  readonly field: string;
  readonly name: string;
}

/** Sort keys for fields that do not sort byte by byte. */
type SortKeys<R> = { readonly [Name in keyof R]?: (value: NonNullable<R[Name]>) => string };

export interface Kind<R extends RecordBase = RecordBase> extends Entity {
  /** Plural, as in paths and in the `changed_fields` of an owner: `if_entries`. */
  readonly plural: string;
  /**
   * Permanent in the ledger, never reused for another kind. Ascending in foreign-key direction: a kind refers to lower
   * codes only.
   */
  readonly code: number;
  /** Upgrades for versions of earlier shapes, oldest first. Append-only. Determines the shape number. */
  readonly upcasters?: readonly Upcaster[];
  readonly table: LiveTable;
  /** Live columns besides liveColumns and the scope columns. `n` resolves an id to its record number. */
  readonly columns?: (record: R, n: (id: string) => number) => Record<string, unknown>;
  /**
   * Scope → the field with the id of the record's container. A kind that is itself a scope names its own `id`. The
   * network scope decides access to a record, in SQL as in commands.
   */
  readonly scopes: { readonly [Scope in ScopeName]?: keyof R & ("id" | `${Scope}_id`) };
  /** The network field may be null: such a record belongs to the organization as a whole and is visible to all. */
  readonly networkIsOptional?: true;
  /** References that need an action when their target is removed. */
  readonly references?: readonly Reference<R>[];
  /** The id lists and untyped references of a record. */
  readonly links?: (record: R) => RelatedIds[];
  /** Records that include the record as a part, and the field that does: they get a new version when it changes. */
  readonly owners?: (record: R) => Array<{ kind: string; id: string; as: string }>;
  /** Groups for finding and counting records besides containers, live and at any point in time. */
  readonly groups?: Groups<R>;
  /** Index of the changes of a field. Only for a kind whose records never change their network. */
  readonly changesIndex?: ChangesIndex & { readonly field: keyof R & string };
  readonly observed: readonly ObservedField[];
  /** Rendering of fields without a value in lists: as null, or omitted (handbook: api, "Values"). */
  readonly absent: "null" | "omitted";
  /** Display name of a record, shown after the word for its kind. Default: `name`. */
  readonly label?: (record: R) => string | undefined;
  /** Identity of the real-world object of a record, which links later incarnations to its lineage; null for none. */
  readonly identity: (record: OwnFields<R>) => string | null;
  /**
   * Uniqueness among live records, and the name of the conflicting field. `key`: the unique value if it differs from
   * the identity.
   */
  readonly unique: {
    field: string;
    value: (record: R) => unknown;
    key?: (record: R) => string;
    /**
     * For names, which people compare visually: the prefix from the container, shared with all names in the comparison.
     */
    seenWithin?: (record: R) => string;
  } | null;
  /**
   * Sort keys for fields whose values do not sort correctly: textSortKey of a string, ipSortKey of an address. Stored
   * with each version that has a value for the field.
   */
  readonly sortKeys?: SortKeys<R>;
  /**
   * Like sortKeys, but computed from the value on every read: for fields that are sorted less often than written.
   */
  readonly orderKeys?: SortKeys<R>;
  /** Excludes changes to this kind, and transactions with no other changes, from the organization-wide change feed. */
  readonly isOutsideFeed?: true;
  /** Searchable names for lists and the global search; empty for a record known only by its container's name. */
  readonly indexedNames?: (record: R) => readonly IndexedName[];
  /** Reports changes as changes to the containing records only; the change log has no entries for this kind. */
  readonly isReportedByContainer?: true;
  /**
   * Records never end: their state is queried for every later point in time. Reverts leave them alone. The record they
   * refer to decides whether they still apply.
   */
  readonly isPermanent?: true;
  /**
   * Fields with parts whose changes are reported separately. A version that changes only these fields is counted with
   * the part.
   */
  readonly partFields?: readonly string[];
  /** Id fields of records that count this kind's changes, besides organization and network. `id`: the record itself. */
  readonly countedWith?: readonly (keyof R & ("id" | `${string}_id`))[];
  /** Full-text search that finds another record, or this record by additional strings. */
  readonly search?: {
    readonly texts: (record: R) => SearchTexts;
    /** Id of the record to return: the host for an address. */
    readonly finds: (record: R) => string;
    /** Also searches lists of this kind, each record by its own strings. */
    readonly findsItself?: true;
  };
  /**
   * SQL for the parts composed into a list item where `composed` is 1: an expression for a JSON continuation, by record
   * number `p.n`. `code` is the kind of the parts.
   */
  readonly composedSql?: { live: string; asOf: string; code: number };
}

/** A kind whose own record fields do not matter. */
// biome-ignore lint/suspicious/noExplicitAny: a kind both accepts and returns records, so kinds have no supertype.
export type AnyKind = Kind<any>;

/** Operation codes in the ledger. */
export const OPERATION = { Created: 1, Updated: 2, Deleted: 3 } as const;

/** Operation of a stored code. @throws Error for an unknown code */
export function operationOf(code: number): keyof typeof OPERATION {
  const operation = OPERATIONS.find((name) => OPERATION[name] === code);
  if (operation === undefined) throw new Error(`kind: no operation has the code ${code}`);
  return operation;
}
const OPERATIONS = Object.keys(OPERATION) as Array<keyof typeof OPERATION>;

/** A record's own fields. The timestamps come from the ledger's newest version; a kind's renderer never sets them. */
export type OwnFields<R extends RecordBase> = Omit<R, keyof RecordBase>;

/** Requires that an object has only the record's fields: a spread could add others, unnoticed by the compiler. */
export type NoOtherFields<R, T> = Readonly<Record<Exclude<keyof T, keyof R>, never>>;

/** Observation values as a JSON continuation of the record's members, in the kind's field order. */
export function renderObserved(kind: AnyKind, values: Observed): string {
  let text = "";
  for (const field of kind.observed) {
    const value = values[field] ?? null;
    if (value === null && kind.absent === "omitted") continue;
    text += `,"${field}":${JSON.stringify(value)}`;
  }
  return text;
}

/** Parses stored observation values, a continuation of JSON object members. An empty text means none. */
export function parseObserved(observed: string): Observed {
  return observed === "" ? {} : (JSON.parse(`{${observed.slice(1)}}`) as Observed);
}

/** A record's own fields as JSON object members, without the braces. */
export function renderMembers(record: object): string {
  return JSON.stringify(record).slice(1, -1);
}

/** Parses JSON object members into a record. @typeParam R the record type; stored text is trusted */
export function parseMembers<R>(members: string): R {
  return JSON.parse(`{${members}}`) as R;
}

/** Value of the live table's `identity` column. Only kinds with unique identities store one. */
export function liveIdentity(kind: AnyKind, record: RecordBase): string | null {
  return kind.unique === null ? null : (kind.unique.key?.(record) ?? kind.identity(record));
}

/**
 * Identity for uniqueness checks of new records: a name without its invisible characters. Existing duplicates remain.
 */
export function seenIdentity(kind: AnyKind, record: RecordBase): string | null {
  const identity = liveIdentity(kind, record);
  return identity === null || kind.unique?.seenWithin === undefined ? identity : withoutInvisible(identity);
}

/** Live column with the record number for an id field: `network_n` for `network_id`. */
export function liveColumnOf(field: string): string {
  return field.replace(/id$/, "n");
}

/** Id of a record's container in a scope; null if it has none. */
export function containerId(kind: AnyKind, record: RecordBase, scope: ScopeName): string | null {
  const field = kind.scopes[scope];
  return field === undefined ? null : fieldValue(record, field);
}

/** Ids of all containers except the organization. */
export function containerIds(kind: AnyKind, record: RecordBase): string[] {
  const ids: string[] = [];
  for (const { field } of containersOf(kind)) {
    const id = fieldValue(record, field);
    if (id !== null) ids.push(id);
  }
  return ids;
}

/** Values of the live columns besides liveColumns. @param n resolves an id, such as to its record number */
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

/** Cached: every write of a record needs it. */
function containersOf(kind: AnyKind) {
  let cached = containers.get(kind);
  if (cached === undefined) {
    cached = Object.values(kind.scopes).map((field) => ({ field, column: liveColumnOf(field) }));
    containers.set(kind, cached);
  }
  return cached;
}

function fieldValue(record: RecordBase, field: string): string | null {
  return (ownValue(record, field) as string | null | undefined) ?? null;
}

/** Scope key for spans and census. Below 2^53, so that JavaScript can read it from SQL. */
export function scopeKey(containerN: number, kind: Pick<AnyKind, "code">): number {
  return containerN * 64 + kind.code;
}

/** Offset above all container scopes. */
const VALUE_SCOPES = 2 ** 40;
/** Maximum number of values per enum field. */
const VALUES_MAX = 64;

/** Scope of the records in a network with this value; null if the field or value does not form a group. */
export function valueScope(kind: AnyKind, field: string, value: string, networkN: number): number | null {
  const fields = Object.entries(kind.groups?.values ?? {}) as Array<[string, readonly string[]]>;
  const fieldIndex = fields.findIndex(([name]) => name === field);
  const valueIndex = fields[fieldIndex]?.[1].indexOf(value) ?? -1;
  return valueIndex < 0 ? null : scopeKey(networkN, kind) + (fieldIndex * VALUES_MAX + valueIndex + 1) * VALUE_SCOPES;
}

/** All scopes of a record: organization, containers and groups. */
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
  const referencedIds = new Set<string>();
  for (const field of groups.names ?? []) {
    const ids: unknown = Reflect.get(record, field);
    if (typeof ids === "string") referencedIds.add(ids);
    else if (Array.isArray(ids)) for (const id of ids as string[]) referencedIds.add(id);
  }
  for (const id of referencedIds) scopes.push(scopeKey(n(id), kind));
  const networkId = containerId(kind, record, "network");
  for (const field in groups.values ?? {}) {
    const value = fieldValue(record, field);
    const scope = value === null || networkId === null ? null : valueScope(kind, field, value, n(networkId));
    if (scope !== null) scopes.push(scope);
  }
  return scopes;
}

/** Whether two versions of a record are in the same scopes. */
export function isInSameScopes(kind: AnyKind, a: RecordBase, b: RecordBase): boolean {
  if (!Bun.deepEquals(containerIds(kind, a), containerIds(kind, b))) return false;
  const { names = [], values = {} } = kind.groups ?? {};
  return [...names, ...Object.keys(values)].every((field) =>
    Bun.deepEquals(Reflect.get(a, field), Reflect.get(b, field)),
  );
}
