// Counted changes visible to a caller, of a network, host, subnet or single record: their transactions, and the changes
// in commit order. Every step is bounded. Does not render records.

import { defined } from "../../base/fields.ts";
import { isCounted } from "../change-counts.ts";
import { type AnyKind, scopeKey } from "../kind.ts";
import { Activity, type TransactionRange } from "./activity.ts";
import {
  ChangeLog,
  type ChangeQuery,
  type ChangeStep,
  type RecordChange,
  type ReferencedRecord,
} from "./change-log.ts";
import type { Reach } from "./list-query.ts";
import type { ReadConnection } from "./read-connection.ts";

/** By record number: 0 stands for a record that the caller never saw, which yields no results. */
export interface CountedQuery {
  readonly reach: Reach;
  /** Record kinds to include, only kinds that are shown in the change log. */
  readonly kinds: readonly AnyKind[];
  readonly networkN?: number;
  /** Including its parts. */
  readonly hostN?: number;
  /** Including records that refer to it. */
  readonly referenced?: ReferencedRecord;
  readonly recordN?: number;
}

/** Transactions examined per step. */
const STEP_TRANSACTIONS = 1_000;

export class CountedChanges {
  private readonly connection: ReadConnection;
  private readonly query: CountedQuery;
  private readonly log: ChangeLog;

  constructor(connection: ReadConnection, query: CountedQuery) {
    this.connection = connection;
    this.query = query;
    this.log = new ChangeLog(connection);
  }

  /**
   * Whether the stored counts per scope suffice. Two containers, or one that was outside the caller's networks at some
   * time, require reading the versions.
   */
  get hasStoredCounts(): boolean {
    const { reach, networkN, hostN, referenced, recordN } = this.query;
    const within = hostN ?? referenced?.n;
    if (within === undefined || this.isEmpty()) return recordN === undefined;
    const networks = networkN === undefined ? reach.networkNs : [networkN];
    return (
      recordN === undefined &&
      (hostN === undefined || referenced === undefined) &&
      (networks === null || this.wasOnlyIn(networks, within))
    );
  }

  /** Scopes of all matching counts; they contain nothing else if `hasStoredCounts`. */
  get scopes(): readonly number[] {
    const { reach, kinds, networkN, hostN, referenced } = this.query;
    if (this.isEmpty()) return [];
    const within = referenced?.n ?? hostN ?? networkN;
    if (within !== undefined) return kinds.map((kind) => scopeKey(within, kind));
    if (reach.networkNs === null) return kinds.map((kind) => scopeKey(reach.organizationN, kind));
    const inNetworks = kinds.filter((kind) => kind.scopes.network !== undefined);
    const organizationWide = kinds.filter((kind) => !inNetworks.includes(kind) || kind.networkIsOptional === true);
    return [
      ...organizationWide.map((kind) => scopeKey(-reach.organizationN, kind)),
      ...reach.networkNs.flatMap((n) => inNetworks.map((kind) => scopeKey(n, kind))),
    ];
  }

  /** Transactions with matching changes; a superset unless `hasStoredCounts`. */
  transactions(): Activity {
    return new Activity(this.connection, this.query.reach.organizationN, this.scopes, "history_change_counts");
  }

  /** The first transaction with a matching change; null for none. */
  *first(until: number): Generator<void, number | null> {
    if (!this.hasStoredCounts) {
      for (const { changes } of this.changes({ after: 0, until })) {
        if (changes[0] !== undefined) return changes[0].sequence;
        yield;
      }
      return null;
    }
    const transactions = this.transactions();
    for (let after = 0; after < until; ) {
      const { sequences, through } = transactions.next(after, until, 1);
      if (sequences[0] !== undefined) return sequences[0];
      after = through;
      yield;
    }
    return null;
  }

  /** Single changes, in commit order. */
  *changes(range: TransactionRange): Generator<ChangeStep> {
    if (this.isEmpty()) return;
    const { recordN } = this.query;
    const steps =
      recordN === undefined ? this.changesOfAll(range) : this.log.changesOf(this.changeQuery(), recordN, range);
    const isOwn = ({ kind, operation, changedFields }: RecordChange) => isCounted(kind, operation, changedFields);
    for (const { changes, through } of steps) yield { changes: changes.filter(isOwn), through };
  }

  private *changesOfAll({ after, until }: TransactionRange): Generator<ChangeStep> {
    const transactions = this.transactions();
    const query = this.changeQuery();
    for (let through = after; through < until; ) {
      const stretch = transactions.next(through, until, STEP_TRANSACTIONS);
      if (stretch.sequences.length === 0) yield { changes: [], through: stretch.through };
      else yield* this.log.changesIn(query, stretch);
      through = stretch.through;
    }
  }

  private wasOnlyIn(networkNs: readonly number[], n: number): boolean {
    const lifetimeIn = (containers: string) =>
      `(SELECT sum(s.died - s.born) FROM json_each(${containers}) c CROSS JOIN history_spans s
        ON s.scope = c.value * 64 + r.kind AND s.n = r.n)`;
    const [row] = this.connection
      .statement(`SELECT ${lifetimeIn("+?1")} IS ${lifetimeIn("+?2")} FROM history_records r WHERE r.n = +?3`)
      .values(JSON.stringify(networkNs), JSON.stringify([this.query.reach.organizationN]), n) as Array<[number]>;
    return row?.[0] === 1;
  }

  private changeQuery(): ChangeQuery {
    const { reach, kinds, networkN, hostN, referenced } = this.query;
    return defined<ChangeQuery>({ reach, kinds, networkN, hostN, referenced, isInScopeThen: true });
  }

  private isEmpty(): boolean {
    const { networkN, hostN, referenced, recordN, kinds } = this.query;
    return kinds.length === 0 || networkN === 0 || hostN === 0 || referenced?.n === 0 || recordN === 0;
  }
}
