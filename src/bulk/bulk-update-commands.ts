// Writer commands for bulk updates: set the same fields on many records, by each kind's own rules, all or none.

import type { CommandActor } from "../access/actor.ts";
import { findReachable } from "../access/reach.ts";
import { alreadyExists, type DomainError, invalid, referenceInvalid } from "../base/errors.ts";
import { type AnyKind, type RecordBase, seenIdentity } from "../db/kind.ts";
import type { Reach } from "../db/reading/list-query.ts";
import { Reader } from "../db/reading/reader.ts";
import { type CallsOf, Tried, takingLong } from "../db/writing/command.ts";
import type { WriteTransaction } from "../db/writing/transaction.ts";
import { listCondition } from "../records/list-filter.ts";
import { ipRangeKind } from "../resources/ip-ranges/ip-range.ts";
import { clashingClaims } from "../resources/ip-ranges/rules.ts";
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
 * Command that updates many records of a kind as its single update does. Throws the errors of that, with every issue
 * and the id of its record; validation_failed for an invalid filter or one that finds more than BULK_UPDATE_MAX;
 * entity_reference_invalid with every id out of reach; entity_stale if the quoted plan no longer applies.
 */
function updateEach(editable: RecordWrites) {
  const { kind } = editable.resource;
  return takingLong((tx: WriteTransaction, input: BulkUpdateInput, actor: CommandActor, box: unknown): ReportedBulk => {
    const { set, dryRun } = input;
    const asked = input.ids ?? foundBy(tx, kind, input.filter ?? "", actor);
    const ids = [...new Set(asked)];
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
      issues.of({ ids: asked }).attempt(() => {
        throw referenceInvalid(kind, "ids", missing);
      });
    issues.throwIfAny();
    for (const { id, error } of clashes(tx, kind, ids))
      issues.of(set, "/set", { id }).attempt(() => {
        throw error;
      });
    issues.throwIfAny();
    const plan = planToken(tx, JSON.stringify([input.ids, input.filter, set]), ids);
    assertPlanned(input.plan, plan);
    const updated = ids.filter((id) => tx.isChanged(id)).length;
    const told = {
      plan,
      counts: { matched: ids.length, updated, unchanged: ids.length - updated },
      ids,
      changes: plannedChanges(tx, () => false),
    };
    const report = { members: JSON.stringify(told).slice(1, -1) };
    if (dryRun) throw new Tried(report);
    return report;
  });
}

/**
 * Ids of the records that a filter finds, in page order, within the transaction: nothing can change between search and
 * write.
 */
function foundBy(tx: WriteTransaction, kind: AnyKind, text: string, actor: CommandActor): string[] {
  const reader = new Reader(tx.db, { now: () => tx.wallAt }, true);
  try {
    const reach = reachOf(tx, actor);
    const { condition } = listCondition(reader, { kindName: kind.name, reach, asOf: null }, { text, base: tx.wallAt });
    const asking = { kind, reach, asOf: null, limit: 0, offset: 0, ...(condition === undefined ? {} : { condition }) };
    const steps = reader.sifted(asking);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    const total = reader.total(step.value);
    if (total > BULK_UPDATE_MAX)
      throw invalid([
        { path: "/filter", message: `finds ${total} records; at most ${BULK_UPDATE_MAX} can be changed at once` },
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
export function clashes(
  tx: WriteTransaction,
  kind: AnyKind,
  ids: Iterable<string>,
): Array<{ id: string; error: DomainError }> {
  if (kind.code === ipRangeKind.code) return clashingClaims(tx);
  const { unique } = kind;
  if (unique === null) return [];
  const seen = new Set<string>();
  const taken: Array<{ id: string; error: DomainError }> = [];
  for (const id of ids) {
    const record = tx.isNewlyNamed(kind, id) ? (tx.find(kind, id) as RecordBase | null) : null;
    if (record === null) continue;
    const identity = seenIdentity(kind, record);
    if (identity === null) continue;
    const isTaken = seen.has(identity) || tx.findTwin(kind, record) !== null;
    seen.add(identity);
    if (isTaken) taken.push({ id, error: alreadyExists(kind, unique.field, unique.value(record)) });
  }
  return taken;
}

type BulkUpdates = { readonly [command: `${string}.bulk_update`]: ReturnType<typeof updateEach> };

export const bulkUpdateCommands: BulkUpdates = Object.fromEntries(
  EDITABLE.map((editable) => [`${editable.resource.kind.name}.bulk_update`, updateEach(editable)]),
);
export type BulkUpdateCommands = CallsOf<BulkUpdates>;
