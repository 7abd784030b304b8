// Rejected table rows with the issues of their cells, editable in place.

import type { RefusalIssue } from "../api/refusal.ts";
import { counted, groupedDigits } from "../text/digits.ts";
import type { Table } from "./table-file.ts";

interface TableErrorsProps {
  readonly table: Table;
  /** API column of each header. */
  readonly columns: readonly (string | null)[];
  readonly issues: readonly RefusalIssue[];
  onCell(line: number, at: number, text: string): void;
  onLeaveOut(line: number): void;
}

/** Counts issues and the rows that have them, with the remedy. */
export function wrongCells(issues: number, rowCount: number): string {
  return `${counted(issues, "thing is", "things are")} wrong in ${counted(rowCount, "row", "rows")}. Fix them here, or in the file.`;
}

/** Rows listed at a time. */
const ROWS_SHOWN = 50;
/** Spreadsheet number of the first data row. */
export const FIRST_ROW = 2;

export function TableErrors({ table, columns, issues, onCell, onLeaveOut }: TableErrorsProps) {
  const byRow = Map.groupBy(
    issues.filter(({ row }) => row !== undefined),
    ({ row }) => row as number,
  );
  const rows = [...byRow].sort(([a], [b]) => a - b);
  const shown = columns.flatMap((column, at) => (column === null ? [] : [{ column, at }]));
  return (
    <div class="table-errors">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable */}
      <section class="table" tabIndex={0} aria-label={wrongCells(issues.length, byRow.size)}>
        <table class="rows">
          <thead>
            <tr>
              <th scope="col">Row</th>
              {shown.map(({ column, at }) => (
                <th key={at} scope="col">
                  {column}
                </th>
              ))}
              <th scope="col">Leave out</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, ROWS_SHOWN).map(([row, wrong]) => {
              const own = table.rows[row - FIRST_ROW];
              if (own === undefined) return null;
              const elsewhere = wrong.filter(({ column }) => !columns.includes(column ?? null));
              return (
                <tr key={row}>
                  <th scope="row">
                    {own.line}
                    {elsewhere.map(({ column, message }) => (
                      <p key={`${column}${message}`} class="edit-wrong">
                        {column} {message}
                      </p>
                    ))}
                  </th>
                  {shown.map(({ column, at }) => {
                    const said = wrong.filter((issue) => issue.column === column);
                    const id = `cell-${own.line}-${at}`;
                    return (
                      <td key={at}>
                        {/* An issue may be fixed in another cell: the end of a range by its start. */}
                        <input
                          type="text"
                          aria-label={`${column} of row ${groupedDigits(own.line)}`}
                          aria-invalid={said.length > 0}
                          aria-describedby={said.length > 0 ? id : undefined}
                          value={own.cells[at]}
                          dir="auto"
                          onInput={(event) => onCell(own.line, at, event.currentTarget.value)}
                        />
                        {said.length > 0 && (
                          <p class="edit-wrong" id={id}>
                            {said.map(({ message }) => message).join(" ")}
                          </p>
                        )}
                      </td>
                    );
                  })}
                  <td>
                    <button
                      type="button"
                      aria-label={`Leave out row ${groupedDigits(own.line)}`}
                      onClick={() => onLeaveOut(own.line)}
                    >
                      ×
                    </button>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </section>
      {rows.length > ROWS_SHOWN && (
        <p class="aside">And {counted(rows.length - ROWS_SHOWN, "row", "rows")} more, shown once these are fixed.</p>
      )}
    </div>
  );
}
