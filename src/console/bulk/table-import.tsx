// Table import: file, column mapping, preview, errors, and write.

import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { asRefusal } from "../api/client.ts";
import { Refusal } from "../api/refusal.ts";
import type { Saved } from "../editing/saved.ts";
import { choiceOf, choicesRead } from "../forms/choices.ts";
import { type DraftName, keepDraft, keptDraft } from "../forms/drafts.ts";
import { lacksReason } from "../forms/reason.ts";
import { type EditedKind, kindWords } from "../kinds/kinds.ts";
import { fieldTitle } from "../names/custom-fields.ts";
import { choicesOf, Select } from "../parts/select.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { me } from "../session/me.ts";
import { counted, groupedDigits } from "../text/digits.ts";
import { isolated } from "../text/isolated.ts";
import { network } from "../time/at.ts";
import { usePlan } from "../writes/use-plan.ts";
import { BulkForm } from "./bulk-form.tsx";
import { PlannedChanges } from "./planned-changes.tsx";
import { columnTwice, matchColumns } from "./table-columns.ts";
import { FIRST_ROW, TableErrors, wrongCells } from "./table-errors.tsx";
import {
  CHARSETS,
  type Charset,
  readTable,
  TABLE_ROWS_MAX,
  type Table,
  textOfFile,
  writtenTable,
} from "./table-file.ts";
import { columnsOf, importTable, type TablePlan } from "./writes.ts";

interface TableImportProps {
  readonly kind: EditedKind;
  /** @param saved null if canceled */
  onEnd(saved: Saved | null): void;
}

interface Begun {
  readonly table: Table;
  readonly columns: readonly (string | null)[];
}

export function TableImport({ kind, onEnd }: TableImportProps) {
  const words = kindWords(kind);
  const draftName: DraftName = { userId: me.value?.id ?? "", kind, id: "table" };
  const [known, setKnown] = useState<readonly string[] | null>(null);
  const [begun, setBegun] = useState<Begun | null>(() => keptTable(draftName));
  const [isRestored] = useState(begun !== null);
  const [networkId, setNetworkId] = useState(network.value ?? "");
  const [reason, setReason] = useState("");
  useEffect(() => {
    columnsOf(kind).then(
      (there) => {
        setKnown(there);
        // A stored draft may refer to a custom field deleted since.
        setBegun((last) => last && { ...last, columns: last.columns.map((each) => among(there, each)) });
      },
      (cause: unknown) => refuse(asRefusal(cause)),
    );
  }, [kind]);
  const change = (next: Begun | null) => {
    setBegun(next);
    keepTable(draftName, next);
    drop();
    refuse(null);
  };
  const chooseNetwork = (id: string) => {
    setNetworkId(id);
    drop();
  };
  const end = (saved: Saved | null) => {
    keepTable(draftName, null);
    onEnd(saved);
  };
  const needsNetwork =
    known?.includes("network_id") === true &&
    begun !== null &&
    !["network_id", "network_name", "id"].some((column) => begun.columns.includes(column));
  const twice = begun === null ? null : columnTwice(begun.columns);
  const { plan, isReplanned, problem, isOfWrite, isBusy, look, write, drop, refuse } = usePlan<TablePlan>(
    ({ quoted, key }) => {
      const { table, columns } = begun as Begun;
      const constants = needsNetwork && networkId !== "" ? { network_id: networkId } : {};
      return importTable(kind, { text: writtenTable(table, columns, constants), plan: quoted }, { reason, key });
    },
  );
  // Issues of the header row concern a whole column, not a row to fix.
  const rowIssues = problem?.issues.filter(({ row }) => row !== undefined && row >= FIRST_ROW) ?? [];
  const writes = plan === null ? 0 : plan.counts.created + plan.counts.updated;
  return (
    <BulkForm
      title={`Import ${words[1]} from CSV`}
      problem={problem !== null && rowIssues.length === 0 ? problem : null}
      isOfWrite={isOfWrite}
      reason={writes > 0 ? reason : null}
      onReason={setReason}
      onCancel={() => end(null)}
      buttons={
        plan === null ? (
          <button
            type="button"
            class="primary"
            disabled={isBusy || begun === null || twice !== null}
            onClick={() => void look()}
          >
            {isBusy ? "Looking…" : "Preview"}
          </button>
        ) : (
          writes > 0 && (
            <button
              type="button"
              class="primary"
              disabled={isBusy || lacksReason(reason)}
              onClick={() =>
                void write(({ sequence }) => end({ kind, id: "", operation: "updated", sequence, merged: [] }))
              }
            >
              Write {counted(writes, "row", "rows")}
            </button>
          )
        )
      }
    >
      {isRestored && begun !== null && <p class="note">The table that you had begun is back.</p>}
      {known === null && problem === null && <Waiting />}
      {known !== null && (
        <ChooseFile
          begun={begun}
          onRead={(table) => {
            const cellsOf = (position: number) => table.rows.map(({ cells }) => cells[position] ?? "");
            change({ table, columns: matchColumns(table.headers, known, fieldTitle, cellsOf) });
          }}
          onRefused={(sentence) =>
            refuse(new Refusal({ status: 0, code: "table", message: sentence, requestId: null }))
          }
        />
      )}
      {begun !== null && known !== null && (
        <Columns begun={begun} known={known} onChange={(columns) => change({ ...begun, columns })} />
      )}
      {twice !== null && <p class="edit-wrong">Two columns are {isolated(twice)}.</p>}
      {needsNetwork && <NetworkOfAll networkId={networkId} onChoose={chooseNetwork} />}
      {rowIssues.length > 0 && begun !== null && (
        <>
          <p role="alert">{wrongCells(rowIssues.length, new Set(rowIssues.map(({ row }) => row)).size)}</p>
          <TableErrors
            table={begun.table}
            columns={begun.columns}
            issues={rowIssues}
            onCell={(line, at, text) => {
              const next = { ...begun, table: withCell(begun.table, { line, at, text }) };
              // Issues stay visible until the next preview.
              setBegun(next);
              keepTable(draftName, next);
              drop();
            }}
            onLeaveOut={(line) => {
              const place = begun.table.rows.findIndex((row) => row.line === line);
              change({ ...begun, table: { ...begun.table, rows: begun.table.rows.toSpliced(place, 1) } });
              // The other rows remain invalid.
              refuse(problem === null ? null : withoutRow(problem, place + FIRST_ROW));
            }}
          />
        </>
      )}
      {plan !== null && <Planned kind={kind} plan={plan} isReplanned={isReplanned} />}
    </BulkForm>
  );
}

interface PlannedProps {
  readonly kind: EditedKind;
  readonly plan: TablePlan;
  readonly isReplanned: boolean;
}

function Planned({ kind, plan, isReplanned }: PlannedProps) {
  const { created, updated, unchanged } = plan.counts;
  return (
    <div role="status">
      {isReplanned && <p class="note">Some records changed meanwhile. The preview is updated.</p>}
      <p>
        {created + updated === 0
          ? "Nothing would change: every row already matches its record."
          : `${groupedDigits(created)} to create, ${groupedDigits(updated)} to update, ${groupedDigits(unchanged)} unchanged.`}
      </p>
      {plan.ignored_columns.length > 0 && (
        <p class="aside">Not written, only shown by exports: {plan.ignored_columns.join(", ")}.</p>
      )}
      <PlannedChanges kind={kind} changes={plan.changes} count={created + updated} />
    </div>
  );
}

interface ChooseFileProps {
  readonly begun: Begun | null;
  onRead(table: Table): void;
  onRefused(sentence: string): void;
}

function ChooseFile({ begun, onRead, onRefused }: ChooseFileProps) {
  const [file, setFile] = useState<{ readonly name: string; readonly bytes: ArrayBuffer } | null>(null);
  const [isForeign, setForeign] = useState(false);
  const [isOver, setOver] = useState(false);
  const take = (name: string, bytes: ArrayBuffer, charset: Charset | null) => {
    const text = textOfFile(bytes, charset);
    setForeign(text === null || charset !== null);
    if (text === null) return;
    const table = readTable(name, text);
    if ("brokenLine" in table)
      onRefused(
        `Row ${groupedDigits(table.brokenLine)} cannot be read: its quotes do not end, or it has more cells than columns.`,
      );
    else if (table.rows.length === 0) onRefused("There are no rows in it.");
    else if (table.rows.length > TABLE_ROWS_MAX) onRefused(`At most ${groupedDigits(TABLE_ROWS_MAX)} rows at once.`);
    else onRead(table);
  };
  const open = async (given: File | undefined) => {
    if (given === undefined) return;
    const bytes = await given.arrayBuffer().catch(() => null);
    if (bytes === null) return onRefused("It cannot be read: it is a folder, or no longer there.");
    setFile({ name: given.name, bytes });
    take(given.name, bytes, null);
  };
  return (
    // Files can also be selected with the button.
    // biome-ignore lint/a11y/noStaticElementInteractions: drag and drop has no keyboard equivalent
    <div
      class={isOver ? "table-drop is-over" : "table-drop"}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        void open(event.dataTransfer?.files[0]);
      }}
    >
      {begun === null && (
        <p>
          The columns of “Export CSV”, in any order, or fewer. A row whose record is there already changes it. Nothing
          is ever deleted.
        </p>
      )}
      <p>
        <label>
          {begun === null ? "A CSV file" : "Another file"}{" "}
          <input
            type="file"
            accept=".csv,.txt,text/csv"
            onChange={(event) => void open(event.currentTarget.files?.[0])}
          />
        </label>{" "}
        <span class="aside">
          {begun === null
            ? "or drop it here"
            : `${isolated(begun.table.name)}: ${counted(begun.table.rows.length, "row", "rows")}`}
        </span>
      </p>
      {isForeign && file !== null && (
        <p>
          <label>
            Its text is not UTF-8. Encoding{" "}
            <Select
              choices={["", ...CHARSETS]}
              onChoose={(charset) => charset !== "" && take(file.name, file.bytes, charset as Charset)}
            />
          </label>
        </p>
      )}
    </div>
  );
}

interface ColumnsProps {
  readonly begun: Begun;
  readonly known: readonly string[];
  onChange(columns: readonly (string | null)[]): void;
}

function Columns({ begun: { table, columns }, known, onChange }: ColumnsProps) {
  const matched = columns.filter((column) => column !== null).length;
  return (
    <details open={matched < columns.length}>
      <summary>
        {groupedDigits(matched)} of {groupedDigits(columns.length)} columns are matched
      </summary>
      <div class="table-columns">
        {table.headers.map((header, at) => (
          // Headers may be duplicates.
          <label key={`${at} ${header}`}>
            <bdi>{header || "–"}</bdi>{" "}
            <Select
              aria-label={`Column ${header} is`}
              value={columns[at] ?? ""}
              choices={[["", "left out"], ...known]}
              onChoose={(value) => onChange(columns.map((column, place) => (place === at ? value || null : column)))}
            />
          </label>
        ))}
      </div>
    </details>
  );
}

const NETWORK_FIELD = { name: "network_id", type: "id", isNullable: false, isRequired: true } as const;

function NetworkOfAll({ networkId, onChoose }: { readonly networkId: string; onChoose(id: string): void }) {
  const { data = [] } = useAnswer(choicesRead(NETWORK_FIELD, {}));
  return (
    <p>
      <label>
        Network of all rows{" "}
        <Select value={networkId} choices={[["", "none"], ...choicesOf(data.map(choiceOf))]} onChoose={onChoose} />
      </label>
    </p>
  );
}

function withCell(
  table: Table,
  { line, at, text }: { readonly line: number; readonly at: number; readonly text: string },
): Table {
  const rows = table.rows.map((row) =>
    row.line === line ? { ...row, cells: row.cells.map((cell, place) => (place === at ? text : cell)) } : row,
  );
  return { ...table, rows };
}

/** Issues without those of a removed row, with later rows shifted up; null without remaining issues. */
function withoutRow(problem: Refusal, row: number): Refusal | null {
  const issues = problem.issues.flatMap((issue) => {
    if (issue.row === undefined || issue.row < row) return [issue];
    return issue.row === row ? [] : [{ ...issue, row: issue.row - 1 }];
  });
  const { status, code, message, requestId } = problem;
  return issues.length === 0 ? null : new Refusal({ status, code, message, issues, requestId });
}

function among(known: readonly string[], column: string | null): string | null {
  return column !== null && known.includes(column) ? column : null;
}

function keptTable(name: DraftName): Begun | null {
  return (keptDraft(name)?.base as { begun?: Begun } | undefined)?.begun ?? null;
}

/** Larger tables cost more to store on each keystroke than to select again. */
const KEPT_ROWS_MAX = 10_000;

/** Subject to the browser's storage quota. */
function keepTable(name: DraftName, begun: Begun | null): void {
  const isKept = begun !== null && begun.table.rows.length <= KEPT_ROWS_MAX;
  keepDraft(name, !isKept ? null : { base: { begun }, tag: "", typed: {}, reason: "" });
}
