// Writer commands for bulk updates: set the same fields on many records atomically, by each kind's own rules.

import type { CommandActor } from "../access/actor.ts";
import { findReachable } from "../access/reach.ts";
import { alreadyExists, type DomainError, invalid, referenceInvalid } from "../base/errors.ts";
import { type AnyKind, type RecordBase, seenIdentity } from "../db/kind.ts";
import type { Reach } from "../db/reading/list-query.ts";
import { Reader } from "../db/reading/reader.ts";
import { type CallsOf, DryRunResult, markLongRunning } from "../db/writing/command.ts";
import type { WriteTransaction } from "../db/writing/transaction.ts";
import { listCondition } from "../records/list-filter.ts";
import { parsedFilter } from "../records/read-filter.ts";
import { ipRangeKind } from "../resources/ip-ranges/ip-range.ts";
import { overlappingRanges } from "../resources/ip-ranges/rules.ts";
import { IssueCollector } from "../resources/issues.ts";
import type { RecordWrites } from "../resources/record-writes.ts";
import { SharedLookups } from "../resources/shared-lookups.ts";
import { assertPlanned } from "../schemas/plan-token.ts";
import { BULK_UPDATE_MAX } from "../schemas/schemas.ts";
import { plannedChanges, planToken, type ReportedBulk } from "./bulk-plan.ts";
import { bodyOver, EDITABLE } from "./written-resources.ts";

export interface BulkUpdateInput {
  /** Exactly one of these two. */
  readonly ids?: readonly string[];
  readonly filter?: string;
  readonly set: object;
  readonly dryRun: boolean;
  readonly plan: string | undefined;
}

/**
 * Command that updates many records of a kind like the single update. Throws the errors of the single update, with
 * every issue and the id of its record; validation_failed for an invalid filter or one with more than BULK_UPDATE_MAX
 * matches; entity_reference_invalid with every id out of reach; entity_stale if the quoted plan no longer applies.
 */
function updateEach(editable: RecordWrites) {
  const { kind } = editable.resource;
  return markLongRunning(
    (tx: WriteTransaction, input: BulkUpdateInput, actor: CommandActor, box: unknown): ReportedBulk => {
      const { set, dryRun } = input;
      const requestedIds = input.ids ?? idsMatching(tx, kind, input.filter ?? "", actor);
      const ids = [...new Set(requestedIds)];
      const issues = new IssueCollector();
      const missing: string[] = [];
      const shared = new SharedLookups();
      for (const id of ids) {
        const record = findReachable(tx, kind, id, actor);
        if (record === null) {
          missing.push(id);
          continue;
        }
        const body = bodyOver(editable, record, set);
        issues
          .of(body, "/set", { id })
          .attempt(() => editable.update(tx, { id, body, ifMatch: null, shared }, actor, box));
      }
      if (missing.length > 0)
        issues.of({ ids: requestedIds }).attempt(() => {
          throw referenceInvalid(kind, "ids", missing);
        });
      issues.throwIfAny();
      for (const { id, error } of conflictsAmong(tx, kind, ids))
        issues.of(set, "/set", { id }).attempt(() => {
          throw error;
        });
      issues.throwIfAny();
      const plan = planToken(tx, JSON.stringify([input.ids, input.filter, set]), ids);
      assertPlanned(input.plan, plan);
      const updated = ids.filter((id) => tx.isChanged(id)).length;
      const result = {
        plan,
        counts: { matched: ids.length, updated, unchanged: ids.length - updated },
        ids,
        changes: plannedChanges(tx, () => false),
      };
      const report = { members: JSON.stringify(result).slice(1, -1) };
      if (dryRun) throw new DryRunResult(report);
      return report;
    },
  );
}

/**
 * Ids of the records that a filter finds, in page order, within the transaction: nothing can change between search and
 * write.
 */
function idsMatching(tx: WriteTransaction, kind: AnyKind, text: string, actor: CommandActor): string[] {
  const reader = new Reader(tx.db, { now: () => tx.wallAt }, true);
  try {
    const reach = reachOf(tx, actor);
    const { condition } = listCondition(
      reader,
      { kindName: kind.name, reach, asOf: null },
      { ...parsedFilter(text), base: tx.wallAt },
    );
    const query = { kind, reach, asOf: null, limit: 0, offset: 0, ...(condition === undefined ? {} : { condition }) };
    const steps = reader.filtered(query);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    const total = reader.total(step.value);
    if (total > BULK_UPDATE_MAX)
      throw invalid([
        { path: "/filter", message: `matches ${total} records; at most ${BULK_UPDATE_MAX} can be changed at once` },
      ]);
    return reader.ownFields(step.value, ["id", "created_at"]).map((row) => (JSON.parse(row) as [string, string])[0]);
  } finally {
    reader.release();
  }
}

/** The caller's current reach, in the form that reads use. */
export function reachOf(tx: WriteTransaction, { organizationId, networkIds }: CommandActor): Reach {
  return {
    organizationN: tx.recordN(organizationId) as number,
    networkNs: networkIds === null ? null : networkIds.flatMap((id) => tx.recordN(id) ?? []),
  };
}

/**
 * Conflicts among records written together: duplicate identities, and overlapping exclusive ranges.
 * @param ids of the records written
 */
export function conflictsAmong(
  tx: WriteTransaction,
  kind: AnyKind,
  ids: Iterable<string>,
): Array<{ id: string; error: DomainError }> {
  if (kind.code === ipRangeKind.code) return overlappingRanges(tx);
  const { unique } = kind;
  if (unique === null) return [];
  const identities = new Set<string>();
  const conflicts: Array<{ id: string; error: DomainError }> = [];
  for (const id of ids) {
    const record = tx.isNewlyNamed(kind, id) ? (tx.find(kind, id) as RecordBase | null) : null;
    if (record === null) continue;
    const identity = seenIdentity(kind, record);
    if (identity === null) continue;
    const isConflict = identities.has(identity) || tx.findDuplicate(kind, record) !== null;
    identities.add(identity);
    if (isConflict) conflicts.push({ id, error: alreadyExists(kind, unique.field, unique.value(record)) });
  }
  return conflicts;
}

type BulkUpdates = { readonly [command: `${string}.bulk_update`]: ReturnType<typeof updateEach> };

export const bulkUpdateCommands: BulkUpdates = Object.fromEntries(
  EDITABLE.map((editable) => [`${editable.resource.kind.name}.bulk_update`, updateEach(editable)]),
);
export type BulkUpdateCommands = CallsOf<BulkUpdates>;
