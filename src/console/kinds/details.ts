// Details of a kind that load with its pages: columns, form, facts. Plain data; whatever of the schema they do not
// mention is shown behind what they do.

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
  /** In their order; others follow, unless they are `unlisted`. */
  readonly columns: Readonly<Partial<Record<Field, ColumnDetails>>>;
  /** Columns that are shown at first. */
  readonly shown: readonly Field[];
  /** Order of the list, with `-` before a field for descending; the name if absent. */
  readonly order?: Field | `-${Field}`;
  /** An example of a filter. */
  readonly example: string;
  /** Filters that come with the list. */
  readonly views?: readonly ListView[];
  /** What its records are called above the list, where the words of the kind say too much. */
  readonly listed?: { readonly title: string; readonly one: string; readonly many: string };
  /** Whether scans find records of the kind. */
  readonly isFound?: true;
  /** What to do where there are none; that they are found or can be created if absent. */
  readonly nothingYet?: string;
  /** Whether an empty list leads to a first scan. */
  readonly startsScan?: true;
  /** Query for columns that cost more to read. */
  readonly asks?: Readonly<Partial<Record<Field, Readonly<Record<string, unknown>>>>>;
  /** Whether the records say something of the clock: of now they are read without an instant. */
  readonly isOfClock?: true;
  /** Fields without a column: parts, or ids of other things than records. */
  readonly unlisted?: readonly Field[];
  /** Fields of the form, in their order; others that can be typed follow, unless they are `unset`. */
  readonly form?: readonly Field[];
  /** Fields that the API takes and that devices or other operations set. */
  readonly unset?: readonly Field[];
  /** Values of a new record that the API would give it, and that are better seen. */
  readonly usual?: Readonly<Partial<Record<Field, unknown>>>;
  /** Fields among the facts of its page, in their order; others that have a value follow. */
  readonly facts?: readonly Field[];
  /** Fields that its page shows elsewhere. */
  readonly toldElsewhere?: readonly Field[];
  /** What deleting one, and several, means; of what scans find that they must not bring it back, if absent. */
  readonly removal?: readonly [one: string, many: string];
}
