// Diff filter: selects changed records that match at either end or both, as the list of their kind would at that time.

import type { Actor } from "../access/actor.ts";
import type { Instant } from "../base/instant.ts";
import type { AnyKind } from "../db/kind.ts";
import type { Condition } from "../db/reading/condition.ts";
import type { AsOf } from "../db/reading/list-query.ts";
import type { Reader } from "../db/reading/reader.ts";
import { NumberSet } from "../db/reading/resolved-condition.ts";
import { listCondition, type RequestFilter, thinnedUntil } from "../records/list-filter.ts";
import type { TouchedRecords } from "./touched-records.ts";

/** The filter for each end: relative ages count from that end. */
export interface EndsFilter {
  readonly from: RequestFilter;
  readonly to: RequestFilter;
}

interface FilteredEnds {
  readonly actor: Actor;
  readonly filter?: EndsFilter | undefined;
  /** Sequence numbers. */
  readonly from: number;
  readonly to: number;
}

/** The filter at one end. */
interface EndCondition {
  readonly asOf: AsOf;
  readonly condition: Condition;
  /** First transaction whose changes it needs; null if it has no condition on history. */
  readonly after: number | null;
}

/** Records per step. */
const STEP_RECORDS = 5_000;

export class DiffFilter {
  private readonly reader: Reader;
  private readonly actor: Actor;
  private readonly kind: AnyKind | undefined;
  private readonly ends: readonly EndCondition[];

  /**
   * @param kind whose fields the filter uses
   * @throws DomainError validation_failed
   */
  constructor(reader: Reader, { actor, filter, from, to }: FilteredEnds, kind: AnyKind | undefined) {
    this.reader = reader;
    this.actor = actor;
    this.kind = kind;
    const end = (sequence: number, text: RequestFilter, kindName: string): EndCondition[] => {
      const asOf = reader.atSequence(sequence);
      const { condition, after } = listCondition(reader, { kindName, reach: actor, asOf }, text);
      return condition === undefined ? [] : [{ asOf, condition, after }];
    };
    this.ends =
      filter === undefined || kind === undefined
        ? []
        : [...end(from, filter.from, kind.name), ...end(to, filter.to, kind.name)];
  }

  /** End of thinned history within the filter's look-back; null if there is none. */
  get thinnedUntil(): Instant | null {
    const instants = this.ends.flatMap(({ after }) => thinnedUntil(this.reader, after) ?? []);
    return instants.length === 0 ? null : Math.max(...instants);
  }

  /** Runs in steps. @returns null without a filter: all match */
  *matching(records: TouchedRecords): Generator<void, NumberSet | null> {
    const { kind, actor, ends } = this;
    if (kind === undefined || ends.length === 0) return null;
    const touched: number[] = [];
    for (const step of records.steps(null, STEP_RECORDS)) {
      for (const { n } of step.records) touched.push(n);
      yield;
    }
    const among = NumberSet.of(touched).sorted;
    const found: number[] = [];
    for (const { asOf, condition } of ends) {
      const query = { kind, reach: actor, asOf, condition, among, limit: 0, offset: 0 };
      const { numbers = [] } = yield* this.reader.filtered(query);
      for (const n of numbers) found.push(n);
    }
    return NumberSet.of(found);
  }
}
