// Table import: file, column mapping, preview, errors and write.

import { useEffect, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import { Refusal } from "../api/refusal.ts";
import { useResponse } from "../api/response.ts";
import { ActionButton } from "../components/buttons.tsx";
import { choicesOf, Select } from "../components/select.tsx";
import { Waiting } from "../components/waiting.tsx";
import { type Saved, savedMany } from "../editing/saved.ts";
import { choiceOf, choicesRead } from "../forms/choices.ts";
import { type DraftName, loadDraft, storeDraft } from "../forms/drafts.ts";
import { lacksReason } from "../forms/reason.ts";
import { type EditedKind, kindWords } from "../kinds/kinds.ts";
import { fieldTitle } from "../names/custom-fields.ts";
import { usePlan } from "../plans/use-plan.ts";
import { me } from "../session/me.ts";
import { counted, groupedDigits } from "../text/digits.ts";
import { isolated } from "../text/isolated.ts";
import { network } from "../time/at.ts";
import { BulkForm } from "./bulk-form.tsx";
import { PlannedChanges } from "./planned-changes.tsx";
import { duplicateColumn, matchColumns } from "./table-columns.ts";
import { FIRST_ROW, issueSummary, TableErrors } from "./table-errors.tsx";
import { CHARSETS, type Charset, csvToSend, readTable, TABLE_ROWS_MAX, type Table, textOfFile } from "./table-file.ts";
import { columnsOf, importTable, type TablePlan } from "./writes.ts";

interface ImportDraft {
  readonly table: Table;
  readonly columns: readonly (string | null)[];
}

/** @param onEnd receives null if canceled */
export function TableImport({ kind, onEnd }: { readonly kind: EditedKind; onEnd(saved: Saved | null): void }) {
  const words = kindWords(kind);
  const draftName: DraftName = { userId: me.value?.id ?? "", kind, id: "table" };
  const [knownColumns, setKnown] = useState<readonly string[] | null>(null);
  const [draft, setDraft] = useState<ImportDraft | null>(() => storedTable(draftName));
  const [isRestored] = useState(draft !== null);
  const [networkId, setNetworkId] = useState(network.value ?? "");
  const [reason, setReason] = useState("");
  useEffect(() => {
    columnsOf(kind).then(
      (columns) => {
        setKnown(columns);
        // A stored draft may refer to a custom field deleted since.
        setDraft((last) => last && { ...last, columns: last.columns.map((column) => ifKnown(columns, column)) });
      },
      (cause: unknown) => refuse(asRefusal(cause)),
    );
  }, [kind]);
  const change = (next: ImportDraft | null) => {
    setDraft(next);
    storeTable(draftName, next);
    drop();
    refuse(null);
  };
  const chooseNetwork = (id: string) => {
    setNetworkId(id);
    drop();
  };
  const end = (saved: Saved | null) => {
    storeTable(draftName, null);
    onEnd(saved);
  };
  const needsNetwork =
    knownColumns?.includes("network_id") === true &&
    draft !== null &&
    !["network_id", "network_name", "id"].some((column) => draft.columns.includes(column));
  const duplicate = draft === null ? null : duplicateColumn(draft.columns);
  const { plan, isReplanned, problem, isWriteProblem, isBusy, preview, write, drop, refuse } = usePlan<TablePlan>(
    ({ fingerprint, key }) => {
      const { table, columns } = draft as ImportDraft;
      const constants = needsNetwork && networkId !== "" ? { network_id: networkId } : {};
      return importTable(kind, { text: csvToSend(table, columns, constants), plan: fingerprint }, { reason, key });
    },
  );
  // Issues in the header row concern a whole column, so there is no row to fix.
  const rowIssues = problem?.issues.filter(({ row }) => row !== undefined && row >= FIRST_ROW) ?? [];
  const writes = plan === null ? 0 : plan.counts.created + plan.counts.updated;
  return (
    <BulkForm
      title={`Import ${words[1]} from CSV`}
      problem={problem !== null && rowIssues.length === 0 ? problem : null}
      isWriteProblem={isWriteProblem}
      reason={writes > 0 ? reason : null}
      onReason={setReason}
      onCancel={() => end(null)}
      buttons={
        plan === null ? (
          <ActionButton
            label={isBusy ? "Loading…" : "Preview"}
            class="primary"
            disabled={isBusy || draft === null || duplicate !== null}
            onClick={() => void preview()}
          />
        ) : (
          writes > 0 && (
            <ActionButton
              label={`Write ${counted(writes, "row", "rows")}`}
              class="primary"
              disabled={isBusy || lacksReason(reason)}
              onClick={() => void write(({ sequence }) => end(savedMany(kind, "updated", sequence)))}
            />
          )
        )
      }
    >
      {isRestored && draft !== null && <p class="note">Your unfinished import was restored.</p>}
      {knownColumns === null && problem === null && <Waiting />}
      {knownColumns !== null && (
        <ChooseFile
          draft={draft}
          onRead={(table) => {
            const cellsOf = (position: number) => table.rows.map(({ cells }) => cells[position] ?? "");
            change({ table, columns: matchColumns(table.headers, knownColumns, fieldTitle, cellsOf) });
          }}
          onRefused={(message) => refuse(new Refusal({ status: 0, code: "table", message, requestId: null }))}
        />
      )}
      {draft !== null && knownColumns !== null && (
        <Columns draft={draft} knownColumns={knownColumns} onChange={(columns) => change({ ...draft, columns })} />
      )}
      {duplicate !== null && <p class="edit-error">Two columns map to {isolated(duplicate)}.</p>}
      {needsNetwork && <NetworkOfAllRows networkId={networkId} onChoose={chooseNetwork} />}
      {rowIssues.length > 0 && draft !== null && (
        <>
          <p role="alert">{issueSummary(rowIssues.length, new Set(rowIssues.map(({ row }) => row)).size)}</p>
          <TableErrors
            table={draft.table}
            columns={draft.columns}
            issues={rowIssues}
            onCell={(line, columnIndex, text) => {
              const next = { ...draft, table: withCell(draft.table, line, columnIndex, text) };
              // Issues stay visible until the next preview.
              setDraft(next);
              storeTable(draftName, next);
              drop();
            }}
            onLeaveOut={(line) => {
              const index = draft.table.rows.findIndex((row) => row.line === line);
              change({ ...draft, table: { ...draft.table, rows: draft.table.rows.toSpliced(index, 1) } });
              // The other rows remain invalid.
              refuse(problem === null ? null : withoutRow(problem, index + FIRST_ROW));
            }}
          />
        </>
      )}
      {plan !== null && (
        <PlannedChanges kind={kind} changes={plan.changes} count={writes} isReplanned={isReplanned}>
          <PlanSummary plan={plan} />
        </PlannedChanges>
      )}
    </BulkForm>
  );
}

function PlanSummary({ plan: { counts, ignored_columns } }: { readonly plan: TablePlan }) {
  const { created, updated, unchanged } = counts;
  return (
    <>
      <p>
        {created + updated === 0
          ? "Nothing would change: every row already matches its record."
          : `${groupedDigits(created)} to create, ${groupedDigits(updated)} to update, ${groupedDigits(unchanged)} unchanged.`}
      </p>
      {ignored_columns.length > 0 && (
        <p class="aside">Export-only columns, not imported: {ignored_columns.join(", ")}.</p>
      )}
    </>
  );
}

interface ChooseFileProps {
  readonly draft: ImportDraft | null;
  onRead(table: Table): void;
  onRefused(sentence: string): void;
}

function ChooseFile({ draft, onRead, onRefused }: ChooseFileProps) {
  const [file, setFile] = useState<{ readonly name: string; readonly bytes: ArrayBuffer } | null>(null);
  const [hasOtherCharset, setHasOtherCharset] = useState(false);
  const [isDraggedOver, setDraggedOver] = useState(false);
  const load = (name: string, bytes: ArrayBuffer, charset: Charset | null) => {
    const text = textOfFile(bytes, charset);
    setHasOtherCharset(text === null || charset !== null);
    if (text === null) return;
    const table = readTable(name, text);
    if ("brokenLine" in table)
      onRefused(
        `Row ${groupedDigits(table.brokenLine)} cannot be read: it has an unclosed quote or more cells than columns.`,
      );
    else if (table.rows.length === 0) onRefused("The file has no rows.");
    else if (table.rows.length > TABLE_ROWS_MAX) onRefused(`At most ${groupedDigits(TABLE_ROWS_MAX)} rows at once.`);
    else onRead(table);
  };
  const open = async (selectedFile: File | undefined) => {
    if (selectedFile === undefined) return;
    const bytes = await selectedFile.arrayBuffer().catch(() => null);
    if (bytes === null) return onRefused("The file cannot be read: it is a folder or no longer exists.");
    setFile({ name: selectedFile.name, bytes });
    load(selectedFile.name, bytes, null);
  };
  return (
    // Files can also be selected with the button.
    // biome-ignore lint/a11y/noStaticElementInteractions: drag and drop has no keyboard equivalent
    <div
      class={isDraggedOver ? "table-drop is-over" : "table-drop"}
      onDragOver={(event) => {
        event.preventDefault();
        setDraggedOver(true);
      }}
      onDragLeave={() => setDraggedOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setDraggedOver(false);
        void open(event.dataTransfer?.files[0]);
      }}
    >
      {draft === null && (
        <p>
          Use the columns of “Export CSV” or some of them, in any order. A row updates its record if it exists already.
          Nothing is deleted.
        </p>
      )}
      <p>
        <label>
          {draft === null ? "A CSV file" : "Another file"}{" "}
          <input
            type="file"
            accept=".csv,.txt,text/csv"
            onChange={(event) => void open(event.currentTarget.files?.[0])}
          />
        </label>{" "}
        <span class="aside">
          {draft === null
            ? "or drop it here"
            : `${isolated(draft.table.name)}: ${counted(draft.table.rows.length, "row", "rows")}`}
        </span>
      </p>
      {hasOtherCharset && file !== null && (
        <p>
          <label>
            The file is not UTF-8. Encoding{" "}
            <Select
              choices={["", ...CHARSETS]}
              onChoose={(charset) => charset !== "" && load(file.name, file.bytes, charset as Charset)}
            />
          </label>
        </p>
      )}
    </div>
  );
}

interface ColumnsProps {
  readonly draft: ImportDraft;
  readonly knownColumns: readonly string[];
  onChange(columns: readonly (string | null)[]): void;
}

function Columns({ draft: { table, columns }, knownColumns, onChange }: ColumnsProps) {
  const matched = columns.filter((column) => column !== null).length;
  return (
    <details open={matched < columns.length}>
      <summary>
        {groupedDigits(matched)} of {groupedDigits(columns.length)} columns matched
      </summary>
      <div class="table-columns">
        {table.headers.map((header, columnIndex) => (
          // Headers may be repeated.
          <label key={`${columnIndex} ${header}`}>
            <bdi>{header || "–"}</bdi>{" "}
            <Select
              aria-label={`Column ${header} is`}
              value={columns[columnIndex] ?? ""}
              choices={[["", "skipped"], ...knownColumns]}
              onChoose={(value) => onChange(columns.with(columnIndex, value || null))}
            />
          </label>
        ))}
      </div>
    </details>
  );
}

const NETWORK_FIELD = { name: "network_id", type: "id", isNullable: false, isRequired: true } as const;

function NetworkOfAllRows({ networkId, onChoose }: { readonly networkId: string; onChoose(id: string): void }) {
  const { data = [] } = useResponse(choicesRead(NETWORK_FIELD, {}));
  return (
    <p>
      <label>
        Network for all rows{" "}
        <Select value={networkId} choices={[["", "none"], ...choicesOf(data.map(choiceOf))]} onChoose={onChoose} />
      </label>
    </p>
  );
}

function withCell(table: Table, line: number, columnIndex: number, text: string): Table {
  const changed = (row: Table["rows"][number]) => ({ ...row, cells: row.cells.with(columnIndex, text) });
  return { ...table, rows: table.rows.map((row) => (row.line === line ? changed(row) : row)) };
}

/** Problem without the issues in a removed row, with later rows shifted up; null if no issues remain. */
function withoutRow(problem: Refusal, row: number): Refusal | null {
  const issues = problem.issues.flatMap((issue) => {
    if (issue.row === undefined || issue.row < row) return [issue];
    return issue.row === row ? [] : [{ ...issue, row: issue.row - 1 }];
  });
  const { status, code, message, requestId } = problem;
  return issues.length === 0 ? null : new Refusal({ status, code, message, issues, requestId });
}

function ifKnown(knownColumns: readonly string[], column: string | null): string | null {
  return column !== null && knownColumns.includes(column) ? column : null;
}

function storedTable(name: DraftName): ImportDraft | null {
  return (loadDraft(name)?.base as { import?: ImportDraft } | undefined)?.import ?? null;
}

/** Larger tables are not stored: writing them on each keystroke costs more than selecting the file again. */
const STORED_ROWS_MAX = 10_000;

/** Stores an unfinished import, subject to the browser's storage quota. */
function storeTable(name: DraftName, draft: ImportDraft | null): void {
  const isStored = draft !== null && draft.table.rows.length <= STORED_ROWS_MAX;
  storeDraft(name, !isStored ? null : { base: { import: draft }, tag: "", typed: {}, reason: "" });
}
