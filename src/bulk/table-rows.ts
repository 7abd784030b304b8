// Working state of a table import: column roles, matched records and problems per row.

import type { TSchema } from "@sinclair/typebox";
import type { CommandActor } from "../access/actor.ts";
import { findReachable } from "../access/reach.ts";
import { CUSTOM_FIELDS, customFieldKey, customFieldName } from "../base/custom-field-names.ts";
import { DomainError } from "../base/errors.ts";
import type { RecordBase } from "../db/kind.ts";
import type { WriteTransaction } from "../db/writing/transaction.ts";
import { type CodedIssue, IssueCollector, type ItemPart } from "../resources/issues.ts";
import type { RecordWrites } from "../resources/record-writes.ts";
import { TABLE_ISSUES_MAX, type Table } from "./read-table.ts";
import { type ColumnRole, columnRoles } from "./table-columns.ts";

/** A field that rows may set. */
interface Field {
  readonly field: string;
  /** Position of its own column; -1 if there is only its name column. */
  readonly position: number;
  readonly schema: TSchema;
  /** Whether a new record requires it. */
  readonly isRequired: boolean;
}

/** A name column, and its id column if present. */
export interface NameReference {
  readonly field: string;
  /** -1 without an id column. */
  readonly idsPosition: number;
  readonly namesColumn: string;
  readonly namesPosition: number;
  readonly role: Extract<ColumnRole, { type: "Names" }>;
}

/** A row and its state. */
export interface Row {
  /** As in a spreadsheet. */
  readonly row: number;
  readonly cells: readonly string[];
  /** Ids found by name, by field, in cell form. */
  readonly ids: Map<string, string>;
  /** Null for a record to be created. */
  record: RecordBase | null;
  /** A refused row is not written. */
  isRefused: boolean;
}

/** A problem with a row. */
interface Refusal {
  readonly message: string;
  readonly value?: unknown;
  /** Set for errors other than format errors: the message is then a complete sentence. */
  readonly code?: "entity_reference_invalid";
}

const VALUE_MAX_LENGTH = 200;
/** Fields that disambiguate the names of other fields. */
const CONTAINERS = ["network_id", "host_id", "service_id"];

/** The rows of one table, each matched to an existing record or new. */
export class TableRows {
  readonly tx: WriteTransaction;
  readonly importable: RecordWrites;
  readonly actor: CommandActor;
  readonly rows: readonly Row[];
  readonly fields: readonly Field[];
  /** Containers first: they disambiguate names. */
  readonly references: readonly NameReference[];
  /** Columns of custom fields. */
  readonly customFields: ReadonlyArray<{ readonly key: string; readonly position: number }>;
  private readonly issues = new IssueCollector();
  private readonly positions: ReadonlyMap<string, number>;

  constructor(tx: WriteTransaction, importable: RecordWrites, table: Table, actor: CommandActor) {
    this.tx = tx;
    this.importable = importable;
    this.actor = actor;
    this.rows = table.rows.map(([row, ...cells]) => ({ row, cells, ids: new Map(), record: null, isRefused: false }));
    this.positions = new Map(table.columns.map((name, position) => [name, position]));
    this.references = this.referencesIn();
    this.fields = this.fieldsIn();
    this.customFields = table.columns.flatMap((name, position) => {
      const key = customFieldKey(name);
      return key === null ? [] : [{ key, position }];
    });
  }

  private referencesIn(): NameReference[] {
    const rank = (field: string) => (CONTAINERS.includes(field) ? CONTAINERS.indexOf(field) : CONTAINERS.length);
    return [...columnRoles(this.importable)]
      .flatMap(([namesColumn, role]): NameReference[] => {
        const namesPosition = this.positions.get(namesColumn);
        if (role.type !== "Names" || namesPosition === undefined) return [];
        return [{ field: role.ids, idsPosition: this.positions.get(role.ids) ?? -1, namesColumn, namesPosition, role }];
      })
      .sort((a, b) => rank(a.field) - rank(b.field));
  }

  private fieldsIn(): Field[] {
    const roles = columnRoles(this.importable);
    const isRequired = (field: string) => this.importable.Create.required?.includes(field) === true;
    const direct = [...roles].flatMap(([field, role]): Field[] => {
      const position = this.positions.get(field) ?? -1;
      const isPresent = position >= 0 || this.references.some((reference) => reference.field === field);
      return role.type === "Field" && isPresent
        ? [{ field, position, schema: role.schema, isRequired: isRequired(field) }]
        : [];
    });
    // Fields with display-only ids that are written by name.
    const byName = this.references.flatMap(({ field, role: { schema } }): Field[] =>
      roles.get(field)?.type === "Shown" ? [{ field, position: -1, schema, isRequired: isRequired(field) }] : [],
    );
    return [...direct, ...byName];
  }

  /** Whether the maximum number of issues is reached: checking then stops. */
  get isFull(): boolean {
    return this.issues.count >= TABLE_ISSUES_MAX;
  }

  reachable(id: string): RecordBase | null {
    return findReachable(this.tx, this.importable.resource.kind, id, this.actor) as RecordBase | null;
  }

  /** A row's text for a field, by id or by name; empty if not given. */
  cell(row: Row, field: string): string {
    const position = this.positions.get(field);
    return row.ids.get(field) ?? (position === undefined ? "" : (row.cells[position] as string));
  }

  /** The column that a field was read from. */
  columnOf(field: string): string {
    if (this.positions.has(field)) return field;
    return this.references.find((reference) => reference.field === field)?.namesColumn ?? field;
  }

  /** @param body in which a refusal's values are looked up */
  rowIssues({ row }: Row, body: object): ItemPart {
    return this.issues.of(body, `/${row}`, { row });
  }

  /** Reports a problem with a row, which is then not written. */
  refuse(row: Row, field: string, refusal: Refusal): void {
    row.isRefused = true;
    this.note(row.row, this.columnOf(field), refusal);
  }

  /** Reports a problem with an entire column. */
  refuseColumn(column: string, message: string): void {
    this.note(1, column, { message });
  }

  private note(row: number, column: string, { message, value: given, code }: Refusal): void {
    // Values are only shown to help users find them.
    const value =
      typeof given === "string" && given.length > VALUE_MAX_LENGTH ? `${given.slice(0, VALUE_MAX_LENGTH)}…` : given;
    const part = this.issues.of({}, `/${row}`, { row, column });
    if (code === undefined) part.note({ path: `/${column}`, message, ...(value === undefined ? {} : { value }) });
    else
      part.attempt(() => {
        throw new DomainError(code, message, { field: column, ids: value === undefined ? [] : [value] });
      });
  }

  /** @throws DomainError with every issue, by row and column */
  refuseIfAny(): void {
    try {
      this.issues.throwIfAny();
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      const issues = (error.params.issues as CodedIssue[]).slice(0, TABLE_ISSUES_MAX).map((issue) => {
        const column = issue.column ?? this.columnAt(issue.path);
        return column === null ? issue : { ...issue, column };
      });
      throw new DomainError(error.code, sentence(issues), { issues });
    }
  }

  private columnAt(path: string): string | null {
    const [, , field, key] = path.split("/");
    if (field === undefined) return null;
    return field === CUSTOM_FIELDS && key !== undefined ? customFieldName(key) : this.columnOf(field);
  }
}

function sentence(issues: readonly CodedIssue[]): string {
  const { row, column, message } = issues[0] as CodedIssue;
  const others = issues.length - 1;
  const more =
    others === 0 ? "" : ` ${others} more ${others === 1 ? "issue is" : "issues are"} listed in params.issues.`;
  const where = `Row ${row}${column === undefined ? "" : `, column ${column}`}`;
  return `${where}: ${message.replace(/\.$/, "")}.${more} Nothing was written.`;
}
