// Columns, form fields and facts of a kind, loaded with its pages. Fields not listed here follow the listed ones.

import type { WordOf } from "./word-list.ts";

/** Display styles for cells of fields whose name and type do not determine one. */
export type CellStyle =
  WordOf<"page copied addresses status count fill code minute yesNo kind kinds plain tagged scanKind targets removed">;

/** Width in rem: columns keep their width while the list scrolls. */
type ColumnDetails = number | readonly [width: number, style: CellStyle];

/** @typeParam Field union of the field names in the kind's list */
export interface KindDetails<Field extends string = string> {
  /** Columns in order; other fields follow, except `unlisted` ones. */
  readonly columns: Readonly<Partial<Record<Field, ColumnDetails>>>;
  /** Columns shown by default. */
  readonly shown: readonly Field[];
  /** Default order of the list, `-` for descending; defaults to the name. */
  readonly order?: Field | `-${Field}`;
  /** Example filter. */
  readonly example: string;
  /** Built-in views of the list. */
  readonly views?: readonly { readonly name: string; readonly filter: string; readonly order?: string }[];
  /** Title and nouns of the list, where the words of the kind are too long. */
  readonly listNames?: { readonly title: string; readonly one: string; readonly many: string };
  /** Whether scans find records of the kind. */
  readonly isDiscovered?: true;
  /** Hint for an empty list; by default, that records are discovered or can be created. */
  readonly emptyHint?: string;
  /** Whether an empty list offers a first scan. */
  readonly offersScan?: true;
  /** Query parameters for columns that are expensive to read. */
  readonly columnQueries?: Readonly<Partial<Record<Field, Readonly<Record<string, unknown>>>>>;
  /** Whether records depend on the current time; the current state is then read without a timestamp. */
  readonly dependsOnNow?: true;
  /** Fields without a column: lists of parts, and ids that do not reference a record. */
  readonly unlisted?: readonly Field[];
  /** Form fields in order; other writable ones follow, except `unset` ones. */
  readonly form?: readonly Field[];
  /** Writable API fields that are set by devices or other operations. */
  readonly unset?: readonly Field[];
  /** Default values of the API to show in the form of a new record. */
  readonly defaults?: Readonly<Partial<Record<Field, unknown>>>;
  /** Facts of the record's page in order; other fields with a value follow. */
  readonly facts?: readonly Field[];
  /** Fields shown elsewhere on the record's page. */
  readonly shownElsewhere?: readonly Field[];
  /** Consequence of deleting one record and several; discovered kinds default to a note that scans ignore them. */
  readonly removal?: readonly [one: string, many: string];
}
