// What a read asks for: as of when, for whom, of which records, in which order. No SQL.

import type { Instant } from "../../base/instant.ts";
import type { AnyKind, ScopeName } from "../kind.ts";
import type { Thinned } from "../pruned-history.ts";
import type { Condition } from "./condition.ts";

/** The transaction that a read is as of. Live reads have none. */
export interface AsOf {
  readonly sequence: number;
  /** The highest record number that existed then: what is beyond it need not be looked at. */
  readonly lastN: number;
  /**
   * True for a long read of the present, fixed at one sequence: observation values are today's and nothing has ended.
   */
  readonly present: boolean;
  /** Where history was thinned around the instant that was asked for: what this is instead. */
  readonly thinned?: Thinned;
  /** Whether the version that followed one of then may have been dropped. */
  readonly endsAreThinned?: boolean;
}

/**
 * What the `at` of a request means, settled once for all of its answer (records/read-instant.ts). Plain data: it
 * crosses to other threads.
 */
export interface Moment {
  /** The instant that was asked for, also one that has not passed; null where none was. */
  readonly at: Instant | null;
  /** Null for the present. */
  readonly asOf: AsOf | null;
}

/** The moment of a long read: the present is fixed at one transaction. */
export interface FixedMoment extends Moment {
  readonly asOf: AsOf;
}

/** What a caller may see: an organization, and in it all networks or some. */
export interface Reach {
  readonly organizationN: number;
  /** Record numbers of networks; null for all of the organization. */
  readonly networkNs: readonly number[] | null;
}

export interface OrderTerm {
  readonly field: string;
  readonly direction: "asc" | "desc";
  /** Whether it is the kind's sort key that orders (texts, addresses), not the value. */
  readonly byKey: boolean;
}

/**
 * What a record's own fields must say: one value, one record that is referred to by a column of the same name, or an id
 * list that names any of these.
 */
export type Filter =
  | { readonly field: string; readonly equals: string | number | boolean }
  | { readonly field: `${string}_id`; readonly names: string }
  | { readonly field: string; readonly namesAny: readonly string[] };

export interface ListQuery {
  readonly kind: AnyKind;
  readonly reach: Reach;
  readonly asOf: AsOf | null;
  /** Containers by id; a record must live in each. An id that is no container finds nothing. */
  readonly within?: Partial<Record<ScopeName, string | undefined>>;
  readonly ids?: readonly string[] | undefined;
  readonly filters?: readonly Filter[];
  /** What a sieve has to look at each record for: only it takes this into account. */
  readonly condition?: Condition;
  /** Only records with these numbers, ascending. */
  readonly among?: Uint32Array;
  /** Exactly who lives in one of these scopes, no two of which have a record in common. Nothing else selects. */
  readonly scopes?: readonly number[];
  /**
   * Exactly the records with these numbers: what a sieve found, ascending; where an order was looked up, in that order, and
   * `order` is empty then. Nothing else selects.
   */
  readonly numbers?: Uint32Array;
  /** Words, each of which must begin some word that the record is found by; without any, everything is found. */
  readonly search?: string | undefined;
  /** Empty for page order: `created_at`, then `id`. */
  readonly order?: readonly OrderTerm[];
  /** Rows; 0 for all. */
  readonly limit: number;
  readonly offset: number;
}
