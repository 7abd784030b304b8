// Resource declaration: one value per directory, from which all generic features over resources are built. Contains no
// routes or commands; they operate on it.

import type { TObject } from "@sinclair/typebox";
import type { Access } from "../access/actor.ts";
import type { Kind, RecordBase } from "../db/kind.ts";
import type { CsvColumn } from "../schemas/csv.ts";
import type { ComposeFor } from "./compose.ts";

/** A kind of record that appears within others and has no separate list. */
// biome-ignore lint/suspicious/noExplicitAny: kinds accept and return their own records, without a common supertype.
export interface Part<R extends RecordBase = any> {
  readonly kind: Kind<R>;
  readonly names?: Names<R>;
}

/** A kind that other records reference. */
// biome-ignore lint/suspicious/noExplicitAny: as for Part.
export type Named<R extends RecordBase = any> = Part<R> & { readonly names: Names<R> };

/** Names of records in tables, next to their ids. */
// biome-ignore lint/suspicious/noExplicitAny: as for Part.
export interface Names<R extends RecordBase = any> {
  /** Maps an id column, single or list, to its name column. */
  readonly columns: Readonly<Record<string, string | ColumnOfObjects>>;
  /** Fields that make up the name. */
  readonly fields: ReadonlyArray<keyof R & string>;
  /** The name; default: the record's label. */
  readonly name?: (record: R) => string | number | null;
  /** The record whose name is the prefix, and the field with its id. */
  readonly of?: { readonly part: Named; readonly field: keyof R & string };
  /** Example value in the documentation of a table. */
  readonly example: string | number;
}

/** A column of objects that contain an id among other fields. */
export interface ColumnOfObjects {
  readonly name: string;
  /** Null if the id belongs to another kind. */
  // biome-ignore lint/suspicious/noExplicitAny: each column has its own object type.
  readonly id: (value: any) => string | null;
  /** Text of an object; default: the name of its record. The same for all kinds that share a column. */
  // biome-ignore lint/suspicious/noExplicitAny: as for id.
  readonly text?: (value: any, names: ObjectNames) => unknown;
}

/** Names of an object's records by kind; absent for a record hidden from the caller. */
export type ObjectNames = Readonly<Record<string, string | number>>;

/** View of single records of a kind. */
export type View = Pick<ResourceBase, "kind" | "compose">;

/** A kind of record that appears in responses. */
// biome-ignore lint/suspicious/noExplicitAny: as for Part.
export interface ResourceBase<R extends RecordBase = any> extends Part<R> {
  readonly responseSchema: TObject;
  readonly example: Readonly<Record<string, unknown>> & { readonly id: string };
  readonly compose?: ComposeFor;
  /** Optional additions by their name in `include`. */
  readonly includes?: Readonly<Record<string, ComposeFor>>;
  /** Table columns; default: its own fields. */
  readonly columns?: readonly CsvColumn[];
  /** View for table rows, if they contain more than the response. */
  readonly composeRows?: ComposeFor;
  /** View in change lists, and optionally in lists: without parts that are resources themselves. */
  readonly composeWithoutParts?: ComposeFor;
  /** Schema of composeWithoutParts. */
  readonly schemaWithoutParts?: TObject;
  /** Table columns of composeWithoutParts. */
  readonly columnsWithoutParts?: readonly CsvColumn[];
}

// biome-ignore lint/suspicious/noExplicitAny: as for Part.
export interface Resource<R extends RecordBase = any> extends ResourceBase<R> {
  /** Path below /api/v1. */
  readonly path: string;
  /** Group of its operations in the documentation. */
  readonly group: string;
  /** Description of the group, if it contains this resource alone. */
  readonly about?: string;
  /** Schema in lists, if parts that are resources themselves may be omitted. */
  readonly listSchema?: TObject;
  /** Additional effects of its restore, for the documentation. */
  readonly restores?: string;
  /** Access rules for reads and writes. */
  readonly read: Access;
  readonly write: Access;
  /** Whether only scans write its records: it has no operations that write. */
  readonly isReadOnly?: true;
}
