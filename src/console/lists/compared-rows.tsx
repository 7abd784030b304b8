// Compared list: cells show the old and new values of changed fields, and each row names its change.

import { fieldTitle, valueOfField } from "../names/custom-fields.ts";
import { NamedAsOf } from "../names/named.tsx";
import { comparisonText } from "../text/compare.ts";
import type { ComparedEnds } from "../time/compared.ts";
import type { ComparedRow } from "./compared-reads.ts";
import { type AnyList, type Column, eraseRowType, type ListDefinition } from "./list.ts";
import type { ListState } from "./list-state.ts";

/** Definition of the same list with compared rows. */
export function comparedList(list: AnyList): AnyList {
  const compared: ListDefinition<ComparedRow> = {
    ...list,
    // Used only by the column chooser; the state provides the columns shown.
    columns: list.columns as unknown as Column<ComparedRow>[],
    windowReader: () => {
      throw new Error("lists: comparisons are read by ComparedReads");
    },
    idOf: ({ id }) => id,
    nameOf: ({ before, after }) => list.nameOf(after ?? before),
    classOf: ({ change }) => (change === null ? "" : `is-${change}`),
  };
  return eraseRowType(compared);
}

/** List state with the same columns, preceded by the change column. */
export function comparedState(state: ListState, compared: ComparedEnds): ListState {
  const shown = new Set(state.columns.map(({ key }) => key));
  const cell = (row: ComparedRow) => <ChangeCell row={row} shown={shown} />;
  const change: Column<ComparedRow> = { key: "change", width: 11, isComputed: true, cell };
  const columns = state.columns.map((column): Column<ComparedRow> => {
    const { isComputed: _, isPresentOnly: __, ...rest } = column;
    return { ...rest, cell: (row) => <ComparedCell row={row} column={column} compared={compared} /> };
  });
  return { ...state, columns: [change, ...columns] as unknown as ListState["columns"] };
}

function ChangeCell({ row: { change, fields }, shown }: { readonly row: ComparedRow; readonly shown: Set<string> }) {
  if (change === null) return null;
  // Changed fields without a column.
  const otherFields = fields.filter((field) => !shown.has(field)).map(fieldTitle);
  return (
    <span title={otherFields.length === 0 ? undefined : otherFields.join(", ")}>
      <span class={`sign ${change}`}>{comparisonText.changes[change]}</span>
      {otherFields.length > 0 && <span class="aside"> {otherFields.join(", ")}</span>}
    </span>
  );
}

interface ComparedCellProps {
  readonly row: ComparedRow;
  readonly column: Column<unknown>;
  readonly compared: ComparedEnds;
}

function ComparedCell({ row: { before, after, fields }, column, compared }: ComparedCellProps) {
  const { key, cell, isPresentOnly } = column;
  // Fields such as `last_seen_at` are known only for existing records.
  if (after === undefined && isPresentOnly === true) return null;
  const previous =
    before === undefined ? null : <NamedAsOf.Provider value={{ at: compared.from }}>{cell(before)}</NamedAsOf.Provider>;
  if (after === undefined) return previous;
  const current = <NamedAsOf.Provider value={{ at: compared.to, vs: compared.from }}>{cell(after)}</NamedAsOf.Provider>;
  if (before === undefined || !fields.includes(key)) return current;
  return (
    <>
      <del>{isEmpty(before, key) ? <NoValue /> : previous}</del> <span aria-hidden="true">→</span>{" "}
      <ins>{isEmpty(after, key) ? <NoValue /> : current}</ins>
    </>
  );
}

function NoValue() {
  return <i class="aside">none</i>;
}

function isEmpty(record: unknown, key: string): boolean {
  const value = valueOfField(record, key);
  return value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
}
