// Import of one table within the writing transaction: derives each row's body and runs the command for it. Processes
// every row before it refuses.

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
import { clashes, reachOf } from "./bulk-update-commands.ts";
import { cellValue, customValue, saysSame } from "./cell-values.ts";
import { boundTo, saysSameBindings } from "./name-cells.ts";
import { NamedRecords } from "./named-records.ts";
import type { Table } from "./read-table.ts";
import { resolveNames } from "./row-names.ts";
import { findById, findByKey } from "./row-records.ts";
import { type Row, TableRows } from "./table-rows.ts";
import { bodyOver, PLACES } from "./written-resources.ts";

/** Additional checks: issues that the body's schema does not cover. */
// biome-ignore lint/suspicious/noExplicitAny: each takes the validated body of its own kind.
export type RowRules = (body: any) => Issue[];

/** Result of an import. */
export interface Imported {
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
  readonly asked: Bun.CryptoHasher;
}

/** Interface entry field whose values are records of their own. */
const FORWARDED = "fdb_macs";

/** Service field whose values are records of their own. */
const BOUND = "bindings";

export class TableImport {
  private readonly tx: WriteTransaction;
  private readonly importable: RecordWrites;
  private readonly rules: RowRules;
  private readonly actor: CommandActor;
  private readonly box: unknown;
  private readonly table: TableRows;
  private readonly shared = new SharedLookups();
  private readonly customFields: ReadonlyArray<{ readonly place: number; readonly definition: CustomFieldRecord }>;

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
  run(match: readonly string[] | null): Imported {
    const { table, tx } = this;
    const missing = match?.find((field) => !table.fields.some((each) => each.field === field));
    if (missing !== undefined)
      throw invalid([{ path: "/match", message: "names a column that the table does not have", value: missing }]);
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
    return this.table.customFields.flatMap(({ key, place }) => {
      const definition = byKey.get(key);
      if (definition !== undefined) return [{ place, definition }];
      this.table.refuseColumn(customFieldName(key), `is not a custom field of ${entityWords(kind)}`);
      return [];
    });
  }

  private write(): Imported {
    const { table, tx } = this;
    const asked = new Bun.CryptoHasher("sha256");
    const [ids, newIds, changed] = [new Set<string>(), new Set<string>(), new Set<string>()];
    const rowOf = new Map<string, Row>();
    for (const row of table.rows) {
      if (table.isFull) break;
      if (row.record !== null) ids.add(row.record.id);
      const body = row.isRefused ? null : this.bodyOf(row);
      if (body === null) continue;
      asked.update(`\n${JSON.stringify(body)}`);
      const written = table.placeOfRow(row, body).attempt(() => this.writeOne(row, body));
      if (written === null) continue;
      rowOf.set(written.id, row);
      if (row.record === null && !Object.hasOwn(body, "id")) newIds.add(written.id);
      // Changes may be in the parts instead of the record.
      const hasParts = Object.hasOwn(body, FORWARDED) || Object.hasOwn(body, BOUND);
      if (row.record !== null && (tx.isChanged(written.id) || hasParts)) changed.add(written.id);
    }
    for (const { id, error } of clashes(tx, this.importable.resource.kind, rowOf.keys()))
      table.placeOfRow(rowOf.get(id) as Row, {}).attempt(() => {
        throw error;
      });
    const created = [...rowOf.values()].filter(({ record }) => record === null).length;
    const counts = { rows: table.rows.length, created, updated: changed.size };
    return { ids, newIds, asked, counts: { ...counts, unchanged: counts.rows - created - changed.size } };
  }

  /** Body with a row's changes; null if there are none, or if the row is invalid. */
  private bodyOf(row: Row): object | null {
    const { record } = row;
    const said = this.saidIn(row);
    if (row.isRefused || (record !== null && Object.keys(said).length === 0)) return null;
    const { Create, Update } = this.importable.forms ?? this.importable;
    const checked = record === null ? check(Create, said) : check(Update, bodyOver(this.importable, record, said));
    const issues = checked.ok ? this.rules(checked.value as object) : checked.issues;
    if (checked.ok && issues.length === 0) return checked.value as object;
    row.isRefused = true;
    this.table.placeOfRow(row, said).note(...issues);
    return null;
  }

  private saidIn(row: Row): Record<string, unknown> {
    const { table } = this;
    const { record } = row;
    const said: Record<string, unknown> = {};
    for (const { field, place, schema, isRequired } of table.fields) {
      const cell = row.ids.get(field) ?? row.cells[place] ?? "";
      // An empty cell means the default for a new record, and never moves an existing one.
      const isDefault = cell === "" && (record === null ? !isRequired : PLACES.includes(field));
      if (isDefault || (record !== null && this.isStored(cell, record, field))) continue;
      if (cell === "" && field === BOUND) {
        // Null would keep the existing bindings.
        said[field] = [];
        continue;
      }
      const typeField = cell === "" ? undefined : ownValue(this.importable.typedBy, field);
      const typeOf = (other: string) => (table.cell(row, other) || cellText(fieldOf(record, other))) as FieldType;
      const read = typeField === undefined ? cellValue(cell, schema) : { value: customValue(cell, typeOf(typeField)) };
      if ("value" in read) said[field] = read.value;
      else table.refuse(row, field, { message: read.message, value: cell });
    }
    const values: Record<string, unknown> = {};
    for (const { place, definition } of this.customFields) {
      const cell = row.cells[place] ?? "";
      const stored = record === null ? undefined : fieldValueOf({ ...record }, customFieldName(definition.key));
      if (!saysSame(cell, stored)) values[definition.key] = customValue(cell, definition.type);
    }
    if (Object.keys(values).length > 0) said[CUSTOM_FIELDS] = values;
    return said;
  }

  /** Whether a cell equals the record's current value. */
  private isStored(cell: string, record: RecordBase, field: string): boolean {
    if (field !== BOUND) return saysSame(cell, this.stored(record, field));
    const bindings = this.tx.children(bindingKind, "service_n", record.id);
    return saysSameBindings(
      cell,
      bindings.map((binding) => boundTo(binding.port_id, binding.ip_address_id)),
    );
  }

  private stored(record: RecordBase, field: string): unknown {
    if (field !== FORWARDED) return fieldOf(record, field);
    const entries = this.tx.children(fdbEntryKind, "if_entry_n", record.id);
    return entries.map(({ mac_address }) => mac_address).sort();
  }

  private writeOne(row: Row, body: object): Written {
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
