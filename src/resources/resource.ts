// What a resource is: the one value in its folder that whatever goes over all resources is made from. Routes and
// commands are no part of it: they are what is done with it.

import type { TObject } from "@sinclair/typebox";
import type { Access } from "../access/actor.ts";
import type { Kind, RecordBase } from "../db/kind.ts";
import type { CsvColumn } from "../schemas/csv.ts";
import type { ComposeFor } from "./compose.ts";

/** A kind of record that shows among others, and in no list of its own. */
// biome-ignore lint/suspicious/noExplicitAny: a kind takes its own records and gives them, so no common supertype exists.
export interface Part<R extends RecordBase = any> {
  readonly kind: Kind<R>;
  readonly names?: Names<R>;
}

/** A kind whose records others refer to. */
// biome-ignore lint/suspicious/noExplicitAny: as for Part.
export type Named<R extends RecordBase = any> = Part<R> & { readonly names: Names<R> };

/** How tables name records beside the ids that stand for them. */
// biome-ignore lint/suspicious/noExplicitAny: as for Part.
export interface Names<R extends RecordBase = any> {
  /** By a column that holds their ids, alone or in a list, the column of their names. */
  readonly columns: Readonly<Record<string, string | ColumnOfObjects>>;
  /** The fields that a name is made of. */
  readonly fields: ReadonlyArray<keyof R & string>;
  /** The name; the record's label unless told otherwise. */
  readonly name?: (record: R) => string | number | null;
  /** Whose name stands before it, and the field that holds the id. */
  readonly of?: { readonly part: Named; readonly field: keyof R & string };
  /** For the documentation's example of a table. */
  readonly example: string | number;
}

/** A column whose values are objects that hold an id among other things. */
export interface ColumnOfObjects {
  readonly name: string;
  /** Null where the object holds the id of a record of another kind. */
  // biome-ignore lint/suspicious/noExplicitAny: each column has objects of its own.
  readonly id: (value: any) => string | null;
  /**
   * What the column says of an object; what its record is called unless told otherwise. Alike in all kinds that name the
   * same column.
   */
  // biome-ignore lint/suspicious/noExplicitAny: as for id.
  readonly text?: (value: any, names: ObjectNames) => unknown;
}

/** By kind, what the records of an object are called; absent for one that the caller does not see. */
export type ObjectNames = Readonly<Record<string, string | number>>;

/** How records of a kind are answered, one by one. */
export type View = Pick<Shown, "kind" | "compose">;

/** A kind of record that shows in answers. */
// biome-ignore lint/suspicious/noExplicitAny: as for Part.
export interface Shown<R extends RecordBase = any> extends Part<R> {
  readonly answer: TObject;
  readonly example: Readonly<Record<string, unknown>> & { readonly id: string };
  readonly compose?: ComposeFor;
  /** What it is shown with on request, by its name. */
  readonly includes?: Readonly<Record<string, ComposeFor>>;
  /** Of its table; its own fields unless told otherwise. */
  readonly columns?: readonly CsvColumn[];
  /** As its table has it, where that says more than its answer. */
  readonly composeRows?: ComposeFor;
  /** As it shows among changes, and in lists on request: without the parts that are resources of their own. */
  readonly composeAlone?: ComposeFor;
  /** Its schema, then. */
  readonly answerAlone?: TObject;
  /** Of its table, then. */
  readonly columnsAlone?: readonly CsvColumn[];
}

// biome-ignore lint/suspicious/noExplicitAny: as for Part.
export interface Resource<R extends RecordBase = any> extends Shown<R> {
  /** Below /api/v1. */
  readonly path: string;
  /** Of its operations in the documentation. */
  readonly group: string;
  /** What the group is about, where it is this resource's alone. */
  readonly about?: string;
  /** Where parts that are resources of their own may be left out. */
  readonly listed?: TObject;
  /** What its restore does besides, as the documentation says it. */
  readonly restores?: string;
  /** Who reads it, and who writes it. */
  readonly read: Access;
  readonly write: Access;
}
