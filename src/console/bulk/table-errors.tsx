// Rejected table rows with the errors in their cells, editable in place.

import type { RefusalIssue } from "../api/refusal.ts";
import { ActionButton } from "../components/buttons.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { counted, groupedDigits } from "../text/digits.ts";
import type { Table } from "./table-file.ts";

interface TableErrorsProps {
  readonly table: Table;
  /** API column for each header. */
  readonly columns: readonly (string | null)[];
  /** Issues in data rows. */
  readonly issues: readonly RefusalIssue[];
  onCell(line: number, index: number, text: string): void;
  onLeaveOut(line: number): void;
}

/** Number of issues and affected rows, with the remedy. */
export function issueSummary(issues: number, rowCount: number): string {
  const found = counted(issues, "problem", "problems");
  return `${found} in ${counted(rowCount, "row", "rows")}. Fix them here or in the file.`;
}

/** Maximum number of rows listed at a time. */
const ROWS_SHOWN = 50;
/** Row number of the first data row in a spreadsheet. */
export const FIRST_ROW = 2;

export function TableErrors({ table, columns, issues, onCell, onLeaveOut }: TableErrorsProps) {
  const byRow = Map.groupBy(issues, ({ row = 0 }) => row);
  const rows = [...byRow].sort(([a], [b]) => a - b);
  const shown = columns.flatMap((column, index) => (column === null ? [] : [{ column, index }]));
  return (
    <div class="table-errors">
      <RowsTable
        title={issueSummary(issues.length, byRow.size)}
        heads={["Row", ...shown.map(({ column }) => column), "Leave out"]}
      >
        {rows.slice(0, ROWS_SHOWN).map(([row, rowIssues]) => {
          const tableRow = table.rows[row - FIRST_ROW];
          if (tableRow === undefined) return null;
          const otherIssues = rowIssues.filter(({ column }) => !columns.includes(column ?? null));
          return (
            <tr key={row}>
              <th scope="row">
                {tableRow.line}
                {otherIssues.map(({ column, message }) => (
                  <p key={`${column}${message}`} class="edit-error">
                    {column} {message}
                  </p>
                ))}
              </th>
              {shown.map(({ column, index }) => {
                const cellIssues = rowIssues.filter((issue) => issue.column === column);
                const id = `cell-${tableRow.line}-${index}`;
                return (
                  <td key={index}>
                    {/* An issue may be fixed in another cell: the end of a range by changing its start. */}
                    <input
                      type="text"
                      aria-label={`${column} of row ${groupedDigits(tableRow.line)}`}
                      aria-invalid={cellIssues.length > 0}
                      aria-describedby={cellIssues.length > 0 ? id : undefined}
                      value={tableRow.cells[index]}
                      dir="auto"
                      onInput={(event) => onCell(tableRow.line, index, event.currentTarget.value)}
                    />
                    {cellIssues.length > 0 && (
                      <p class="edit-error" id={id}>
                        {cellIssues.map(({ message }) => message).join(" ")}
                      </p>
                    )}
                  </td>
                );
              })}
              <td>
                <ActionButton
                  label="×"
                  aria-label={`Leave out row ${groupedDigits(tableRow.line)}`}
                  onClick={() => onLeaveOut(tableRow.line)}
                />
              </td>
            </tr>
          );
        })}
      </RowsTable>
      {rows.length > ROWS_SHOWN && (
        <p class="aside">And {counted(rows.length - ROWS_SHOWN, "row", "rows")} more, shown after these are fixed.</p>
      )}
    </div>
  );
}
