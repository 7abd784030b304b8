// What the store has to know of a kind of record: its live table, the scopes it lives in, what it refers to.
// Knows no resource: each resource folder defines its kind with this interface.

import { integer, text, type SQLiteTableWithColumns } from "drizzle-orm/sqlite-core";
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
export type LiveTable = SQLiteTableWithColumns<any>;

/** The containers that lists are filtered by. Every record lives in an organization as well. */
export type ScopeName = "network" | "host" | "service" | "if_entry" | "credential" | "user";

/** The codes of the kinds that are containers: an id of any other kind holds nothing. */
export const SCOPE_CODES: Readonly<Record<ScopeName, number>> = {
  network: 2,
  credential: 6,
  host: 7,
  if_entry: 9,
  service: 12,
  user: 15,
};

/** Observation fields: refreshed without a version, kept beside the ledger. */
export type ObservedField = "last_seen_at" | "last_discovery_id" | "last_used" | "last_login";
export type Observed = Partial<Record<ObservedField, string | null>>;

export interface Link {
  readonly relation: string;
  readonly ids: readonly string[];
}

export interface Kind<R extends RecordBase = RecordBase> {
  /** The singular, as in errors and history: `if_entry`. */
  readonly name: string;
  /** The plural, as in paths and in the `changed_fields` of an owner: `if_entries`. */
  readonly plural: string;
  /** In the ledger for ever, never given to another kind. Ascending in foreign-key direction: a kind refers to lower codes only. */
  readonly code: number;
  /** What brings versions of earlier shapes to today's, the first shape's first: to be added to, never changed. The shape's number follows from it. */
  readonly upcasters?: readonly Upcaster[];
  readonly table: LiveTable;
  /** The live columns beyond liveColumns. `n` resolves an id to its record number. */
  readonly columns: (record: R, n: (id: string) => number) => Record<string, unknown>;
  /** Scope → the live column that holds its n; a kind that is itself a scope names its own `n`. */
  readonly scopes: Partial<Record<ScopeName, string>>;
  /** Scope → id, for the spans. */
  readonly scopeIds: (record: R) => Partial<Record<ScopeName, string | null>>;
  /** The id lists and loose references of a record. */
  readonly links?: (record: R) => Link[];
  /** Records that show this one as a part, and under which field: they get a version when it changes. */
  readonly owners?: (record: R) => Array<{ kind: string; id: string; as: string }>;
  readonly observed: readonly ObservedField[];
  /** How a field without a value stands in a list: as null, or not at all (specification 2.9). */
  readonly absent: "null" | "omitted";
  /** The real thing that a record stands for, so that a later incarnation finds its lineage; null for none. */
  readonly identity: (record: R) => string | null;
  /** Whether two live records may not stand for the same thing, and how the conflict is named. `key`: what is unique, where that is not the identity. */
  readonly unique: { field: string; value: (record: R) => unknown; key?: (record: R) => string } | null;
  /** By field, what orders lists where the value itself would not: textSortKey of a text, ipSortKey of an address. Absent where the field is null. */
  readonly sortKeys?: (record: R) => Record<string, string>;
  /** The same, worked out of the field's text whenever a list is ordered by it: for what is listed less often than it is written. */
  readonly orderKeys?: Readonly<Record<string, (text: string) => string>>;
  /** Its changes are not among those that everybody in its organization is told of, nor is a transaction of it alone. */
  readonly isApart?: true;
  /** What `search` finds a record by. */
  readonly search?: {
    readonly texts: (record: R) => SearchTexts;
    /** The id of the record that is found: its host for an address. Never changes. */
    readonly finds: (record: R) => string;
    /** Lists of this kind are searched as well, each record by its own texts. */
    readonly findsItself?: true;
  };
  /**
   * SQL for the parts composed into a list item where `composed` is 1: an expression for a JSON continuation, by the record number `p.n`.
   * `code` is the kind of the parts.
   */
  readonly composedSql?: { live: string; asOf: string; code: number };
}

/** A kind where its record's own fields do not matter. */
// biome-ignore lint/suspicious/noExplicitAny: a kind takes its own records and gives them, so no common supertype exists.
export type AnyKind = Kind<any>;

/** Operations as the ledger stores them. */
export const OPERATION = { Created: 1, Updated: 2, Deleted: 3 } as const;

/** The wire's instants of a record's newest version are the ledger's; a kind's renderer never sets them. */
export type OwnFields<R extends RecordBase> = Omit<R, keyof RecordBase>;

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

/** A scope of the spans and the census. Below 2^53, so it may leave SQL. */
export function scopeKey(containerN: number, kind: AnyKind): number {
  return containerN * 64 + kind.code;
}
