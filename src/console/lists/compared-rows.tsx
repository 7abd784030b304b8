// List of two timestamps: columns show the old and new values of changed fields, and each row names its change.

import type { ComponentChildren } from "preact";
import { fieldTitle, valueOfField } from "../names/custom-fields.ts";
import { NamedAsOf } from "../names/named.tsx";
import { comparisonText } from "../text/compare.ts";
import type { ComparedEnds } from "../time/compared.ts";
import type { ComparedRow } from "./compared-reads.ts";
import { type AnyList, type Column, type ListDefinition, sealed } from "./list.ts";
import type { ListState } from "./list-state.ts";

/** The list, for rows of two timestamps. */
export function comparedList(list: AnyList): AnyList {
  const compared: ListDefinition<ComparedRow> = {
    ...list,
    // Only for the column chooser; the state provides the columns shown.
    columns: list.columns as unknown as Column<ComparedRow>[],
    readWith: () => {
      throw new Error("lists: two instants are read by ComparedReads");
    },
    idOf: ({ id }) => id,
    nameOf: ({ before, after }) => list.nameOf(after ?? before),
    classOf: ({ change }) => (change === null ? "" : `is-${change}`),
  };
  return sealed(compared);
}

/** The same columns, preceded by the change column. */
export function comparedState(state: ListState, compared: ComparedEnds): ListState {
  const shown = new Set(state.columns.map(({ key }) => key));
  const change: Column<ComparedRow> = {
    key: "change",
    width: 11,
    isMark: true,
    cell: (row) => <ChangeCell row={row} shown={shown} />,
  };
  const columns = state.columns.map((column): Column<ComparedRow> => {
    const { key, width, isNumber, isOrdered } = column;
    return {
      key,
      width,
      ...(isNumber === true ? { isNumber } : {}),
      ...(isOrdered === true ? { isOrdered } : {}),
      cell: (row) => <ComparedCell row={row} column={column} compared={compared} />,
    };
  });
  return { ...state, columns: [change, ...columns] as unknown as ListState["columns"] };
}

/** Fields without a column. */
const comparisonBesides = (fields: readonly string[]) => fields.join(", ");

function ChangeCell({ row: { change, fields }, shown }: { readonly row: ComparedRow; readonly shown: Set<string> }) {
  if (change === null) return null;
  const besides = fields.filter((field) => !shown.has(field)).map(fieldTitle);
  return (
    <span title={besides.length === 0 ? undefined : comparisonBesides(besides)}>
      <span class={`sign ${change}`}>{comparisonText.changes[change]}</span>
      {besides.length > 0 && <span class="aside"> {comparisonBesides(besides)}</span>}
    </span>
  );
}

interface ComparedCellProps {
  readonly row: ComparedRow;
  readonly column: Column<unknown>;
  readonly compared: ComparedEnds;
}

function ComparedCell({ row: { before, after, fields }, column, compared }: ComparedCellProps) {
  const { key, cell, isOfNow } = column;
  // Fields such as `last_seen_at` are known only for existing records.
  if (after === undefined && isOfNow === true) return null;
  const old = before === undefined ? null : <AsOf at={compared.from}>{cell(before)}</AsOf>;
  if (after === undefined) return old;
  const now = (
    <AsOf at={compared.to} vs={compared.from}>
      {cell(after)}
    </AsOf>
  );
  if (before === undefined || !fields.includes(key)) return now;
  return (
    <>
      <del>{isEmpty(before, key) ? <Nothing /> : old}</del> <span aria-hidden="true">→</span>{" "}
      <ins>{isEmpty(after, key) ? <Nothing /> : now}</ins>
    </>
  );
}

function AsOf({
  at,
  vs,
  children,
}: {
  readonly at: string | null;
  readonly vs?: string;
  readonly children: ComponentChildren;
}) {
  return <NamedAsOf.Provider value={vs === undefined ? { at } : { at, vs }}>{children}</NamedAsOf.Provider>;
}

function Nothing() {
  return <i class="aside">none</i>;
}

function isEmpty(record: unknown, key: string): boolean {
  const value = valueOfField(record, key);
  return value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
}
