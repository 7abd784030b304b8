// Details of a kind that load with its pages: columns, form, facts. Plain data; schema fields not listed here are shown
// after the listed ones.

/** Ways to show a value in a cell, for fields whose name and type do not say enough. */
export type CellStyle =
  | "page"
  | "copied"
  | "addresses"
  | "status"
  | "count"
  | "fill"
  | "code"
  | "minute"
  | "yesNo"
  | "kind"
  | "kinds"
  | "plain"
  | "tagged"
  | "scanKind"
  | "targets"
  | "removed";

/** In rem: columns keep their width while the list scrolls. */
type ColumnDetails = number | readonly [width: number, style: CellStyle];

interface ListView {
  readonly name: string;
  readonly filter: string;
  readonly order?: string;
}

/** @typeParam Field the names of the fields in the list of the kind */
export interface KindDetails<Field extends string = string> {
  /** In order; others follow, except `unlisted` ones. */
  readonly columns: Readonly<Partial<Record<Field, ColumnDetails>>>;
  /** Columns shown by default. */
  readonly shown: readonly Field[];
  /** Order of the list, with `-` before a field for descending; the name if absent. */
  readonly order?: Field | `-${Field}`;
  /** Example filter. */
  readonly example: string;
  /** Built-in views of the list. */
  readonly views?: readonly ListView[];
  /** Names of the records above the list, where the words of the kind are too long. */
  readonly listed?: { readonly title: string; readonly one: string; readonly many: string };
  /** Whether scans find records of the kind. */
  readonly isFound?: true;
  /** Hint for an empty list; by default that records are discovered or can be created. */
  readonly nothingYet?: string;
  /** Whether an empty list offers a first scan. */
  readonly startsScan?: true;
  /** Query for columns that cost more to read. */
  readonly asks?: Readonly<Partial<Record<Field, Readonly<Record<string, unknown>>>>>;
  /** Whether records depend on the current time: the present is then read without an instant. */
  readonly isOfClock?: true;
  /** Fields without a column: parts, or ids other than of records. */
  readonly unlisted?: readonly Field[];
  /** Form fields in order; other writable ones follow, except `unset` ones. */
  readonly form?: readonly Field[];
  /** Writable API fields that are set by devices or other operations. */
  readonly unset?: readonly Field[];
  /** Default values of the API to show in the form of a new record. */
  readonly usual?: Readonly<Partial<Record<Field, unknown>>>;
  /** Facts of the record's page in order; other fields with a value follow. */
  readonly facts?: readonly Field[];
  /** Fields shown elsewhere on the record's page. */
  readonly toldElsewhere?: readonly Field[];
  /** Consequence of deleting one and several; by default, for discovered kinds, that scans must not bring them back. */
  readonly removal?: readonly [one: string, many: string];
}
