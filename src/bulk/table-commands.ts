// Writer commands for CSV imports, which are atomic: either all rows are written in one transaction, or none are.

import type { CommandActor } from "../access/actor.ts";
import { ownValue } from "../base/fields.ts";
import { type CallsOf, DryRunResult, markLongRunning } from "../db/writing/command.ts";
import type { WriteTransaction } from "../db/writing/transaction.ts";
import type { RecordWrites } from "../resources/record-writes.ts";
import { assertPlanned } from "../schemas/plan-token.ts";
import { plannedChanges, planToken, type ReportedBulk } from "./bulk-plan.ts";
import type { Table } from "./read-table.ts";
import { type RowRules, TableImport } from "./table-import.ts";
import { IMPORTABLE } from "./written-resources.ts";

interface TableInput {
  /** The parsed table, as JSON. */
  readonly bytes: Uint8Array;
  readonly match: readonly string[] | null;
  readonly dryRun: boolean;
  readonly plan: string | undefined;
}

/**
 * Command that creates and updates a kind's records from table rows. Throws the errors of the kind's create and update,
 * with every issue by row and column; entity_stale if the quoted plan no longer applies.
 */
function importTable(importable: RecordWrites, rules: RowRules) {
  return markLongRunning((tx: WriteTransaction, input: TableInput, actor: CommandActor, box: unknown): ReportedBulk => {
    const { match } = input;
    const table = JSON.parse(new TextDecoder().decode(input.bytes)) as Table;
    const { ids, newIds, counts, bodyHash } = new TableImport(tx, { importable, rules }, table, actor, box).run(match);
    const plan = planToken(tx, `${JSON.stringify([match, table.columns])}\n${bodyHash.digest("hex")}`, ids);
    assertPlanned(input.plan, plan);
    // Ids of new records are generated on creation: unknown in a dry run.
    const changes = plannedChanges(tx, (id) => input.dryRun && newIds.has(id));
    const report = { members: JSON.stringify({ plan, counts, ignored_columns: table.ignored, changes }).slice(1, -1) };
    if (input.dryRun) throw new DryRunResult(report);
    return report;
  });
}

type TableImports = { readonly [command: `${string}.import_csv`]: ReturnType<typeof importTable> };

/** @param rules by path, for kinds with rules beyond those of their commands */
export function tableCommands(rules: Readonly<Record<string, RowRules>>): TableImports {
  return Object.fromEntries(
    IMPORTABLE.map((importable) => {
      const { kind, path } = importable.resource;
      return [`${kind.name}.import_csv`, importTable(importable, ownValue(rules, path) ?? (() => []))];
    }),
  );
}
export type TableCommands = CallsOf<TableImports>;
