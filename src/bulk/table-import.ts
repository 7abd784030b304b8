// Table import within the writing transaction: derives each row's body and runs the command for it. Processes every row
// before rejecting the table.

import type { CommandActor } from "../access/actor.ts";
import { CUSTOM_FIELDS, customFieldName, fieldValueOf } from "../base/custom-field-names.ts";
import { entityWords } from "../base/entity-words.ts";
import { type Issue, invalid } from "../base/errors.ts";
import { ownValue } from "../base/fields.ts";
import type { RecordBase, Written } from "../db/kind.ts";
import { Reader } from "../db/reading/reader.ts";
import type { WriteTransaction } from "../db/writing/transaction.ts";
import { bindingKind } from "../resources/bindings/binding.ts";
import type { CustomFieldRecord } from "../resources/custom-fields/custom-field.ts";
import type { FieldType } from "../resources/custom-fields/field-type.ts";
import { definitionsOf } from "../resources/custom-fields/write-values.ts";
import { fdbEntryKind } from "../resources/fdb-entries/fdb-entry.ts";
import type { RecordWrites } from "../resources/record-writes.ts";
import { SharedLookups } from "../resources/shared-lookups.ts";
import { cellText } from "../schemas/csv.ts";
import { check } from "../schemas/validation.ts";
import { conflictsAmong, reachOf } from "./bulk-update-commands.ts";
import { cellValue, customValue, matchesValue } from "./cell-values.ts";
import { boundTo, matchesBindings } from "./name-cells.ts";
import { NamedRecords } from "./named-records.ts";
import type { Table } from "./read-table.ts";
import { resolveNames } from "./row-names.ts";
import { findById, findByKey } from "./row-records.ts";
import { type Row, TableRows } from "./table-rows.ts";
import { bodyOver, FIXED_FIELDS } from "./written-resources.ts";

/** Additional checks: issues that the body's schema does not cover. */
// biome-ignore lint/suspicious/noExplicitAny: each takes the validated body of its own kind.
export type RowRules = (body: any) => Issue[];

/** Result of an import. */
export interface ImportResult {
  /** Ids of the matched records, changed or not. */
  readonly ids: ReadonlySet<string>;
  /** Ids generated for new records. */
  readonly newIds: ReadonlySet<string>;
  readonly counts: {
    readonly rows: number;
    readonly created: number;
    readonly updated: number;
    readonly unchanged: number;
  };
  /** Hash of the row bodies, which together with the records determines the plan. */
  readonly bodyHash: Bun.CryptoHasher;
}

/** Interface entry field whose values are separate records. */
const FORWARDING_FIELD = "fdb_macs";

/** Service field whose values are separate records. */
const BINDINGS_FIELD = "bindings";

export class TableImport {
  private readonly tx: WriteTransaction;
  private readonly importable: RecordWrites;
  private readonly rules: RowRules;
  private readonly actor: CommandActor;
  private readonly box: unknown;
  private readonly table: TableRows;
  private readonly shared = new SharedLookups();
  private readonly customFields: ReadonlyArray<{ readonly position: number; readonly definition: CustomFieldRecord }>;

  constructor(
    tx: WriteTransaction,
    { importable, rules }: { readonly importable: RecordWrites; readonly rules: RowRules },
    table: Table,
    actor: CommandActor,
    box: unknown,
  ) {
    this.tx = tx;
    this.importable = importable;
    this.rules = rules;
    this.actor = actor;
    this.box = box;
    this.table = new TableRows(tx, importable, table, actor);
    this.customFields = this.customFieldsIn();
  }

  /**
   * @param match fields that match a row to its record; null: the id, otherwise the kind's own key
   * @throws DomainError with every issue by row and column; validation_failed for a match field without a column
   */
  run(match: readonly string[] | null): ImportResult {
    const { table, tx } = this;
    const missing = match?.find((field) => !table.fields.some((each) => each.field === field));
    if (missing !== undefined)
      throw invalid({ path: "/match", message: "names a column that is not in the table", value: missing });
    const reader = new Reader(tx.db, { now: () => tx.wallAt }, true);
    try {
      if (match === null) findById(table);
      resolveNames(table, new NamedRecords(reader, reachOf(tx, this.actor)));
      findByKey(table, reader, match);
    } finally {
      reader.release();
    }
    const imported = this.write();
    table.refuseIfAny();
    return imported;
  }

  private customFieldsIn() {
    const { kind } = this.importable.resource;
    const { byKey } = definitionsOf(this.tx, kind, this.actor.organizationId);
    return this.table.customFields.flatMap(({ key, position }) => {
      const definition = byKey.get(key);
      if (definition !== undefined) return [{ position, definition }];
      this.table.refuseColumn(customFieldName(key), `is not a custom field of ${entityWords(kind)}`);
      return [];
    });
  }

  private write(): ImportResult {
    const { table, tx } = this;
    const bodyHash = new Bun.CryptoHasher("sha256");
    const [ids, newIds, changed] = [new Set<string>(), new Set<string>(), new Set<string>()];
    const rowOf = new Map<string, Row>();
    for (const row of table.rows) {
      if (table.isFull) break;
      if (row.record !== null) ids.add(row.record.id);
      const body = row.isRefused ? null : this.bodyOf(row);
      if (body === null) continue;
      bodyHash.update(`\n${JSON.stringify(body)}`);
      const written = table.rowIssues(row, body).attempt(() => this.writeRow(row, body));
      if (written === null) continue;
      rowOf.set(written.id, row);
      if (row.record === null && !Object.hasOwn(body, "id")) newIds.add(written.id);
      // Changes may be in the parts instead of the record.
      const hasParts = Object.hasOwn(body, FORWARDING_FIELD) || Object.hasOwn(body, BINDINGS_FIELD);
      if (row.record !== null && (tx.isChanged(written.id) || hasParts)) changed.add(written.id);
    }
    for (const { id, error } of conflictsAmong(tx, this.importable.resource.kind, rowOf.keys()))
      table.rowIssues(rowOf.get(id) as Row, {}).attempt(() => {
        throw error;
      });
    const created = [...rowOf.values()].filter(({ record }) => record === null).length;
    const counts = { rows: table.rows.length, created, updated: changed.size };
    return { ids, newIds, bodyHash, counts: { ...counts, unchanged: counts.rows - created - changed.size } };
  }

  /** Body with a row's changes; null if there are none, or if the row is invalid. */
  private bodyOf(row: Row): object | null {
    const { record } = row;
    const changes = this.changesIn(row);
    if (row.isRefused || (record !== null && Object.keys(changes).length === 0)) return null;
    const { Create, Update } = this.importable.forms ?? this.importable;
    const checked =
      record === null ? check(Create, changes) : check(Update, bodyOver(this.importable, record, changes));
    const issues = checked.ok ? this.rules(checked.value as object) : checked.issues;
    if (checked.ok && issues.length === 0) return checked.value as object;
    row.isRefused = true;
    this.table.rowIssues(row, changes).note(...issues);
    return null;
  }

  private changesIn(row: Row): Record<string, unknown> {
    const { table } = this;
    const { record } = row;
    const changes: Record<string, unknown> = {};
    for (const { field, position, schema, isRequired } of table.fields) {
      const cell = row.ids.get(field) ?? row.cells[position] ?? "";
      // An empty cell means the default for a new record, and never moves an existing one.
      const isDefault = cell === "" && (record === null ? !isRequired : FIXED_FIELDS.includes(field));
      if (isDefault || (record !== null && this.isStored(cell, record, field))) continue;
      if (cell === "" && field === BINDINGS_FIELD) {
        // Null would keep the existing bindings.
        changes[field] = [];
        continue;
      }
      const typeField = cell === "" ? undefined : ownValue(this.importable.typedBy, field);
      const typeOf = (other: string) => (table.cell(row, other) || cellText(fieldOf(record, other))) as FieldType;
      const read = typeField === undefined ? cellValue(cell, schema) : { value: customValue(cell, typeOf(typeField)) };
      if ("value" in read) changes[field] = read.value;
      else table.refuse(row, field, { message: read.message, value: cell });
    }
    const values: Record<string, unknown> = {};
    for (const { position, definition } of this.customFields) {
      const cell = row.cells[position] ?? "";
      const stored = record === null ? undefined : fieldValueOf({ ...record }, customFieldName(definition.key));
      if (!matchesValue(cell, stored)) values[definition.key] = customValue(cell, definition.type);
    }
    if (Object.keys(values).length > 0) changes[CUSTOM_FIELDS] = values;
    return changes;
  }

  /** Whether a cell equals the record's current value. */
  private isStored(cell: string, record: RecordBase, field: string): boolean {
    if (field !== BINDINGS_FIELD) return matchesValue(cell, this.stored(record, field));
    const bindings = this.tx.children(bindingKind, "service_n", record.id);
    return matchesBindings(
      cell,
      bindings.map((binding) => boundTo(binding.port_id, binding.ip_address_id)),
    );
  }

  private stored(record: RecordBase, field: string): unknown {
    if (field !== FORWARDING_FIELD) return fieldOf(record, field);
    const entries = this.tx.children(fdbEntryKind, "if_entry_n", record.id);
    return entries.map(({ mac_address }) => mac_address).sort();
  }

  private writeRow(row: Row, body: object): Written {
    const { tx, actor, box, importable, shared } = this;
    const written =
      row.record === null
        ? importable.create(tx, { body, shared }, actor, box)
        : importable.update(tx, { id: row.record.id, body, ifMatch: null, shared }, actor, box);
    return written as Written;
  }
}

function fieldOf(record: RecordBase | null, field: string): unknown {
  return ownValue(record, field);
}
