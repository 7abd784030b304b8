// Read parameters: point in time, reach, selection and order. No SQL.

import type { Instant } from "../../base/instant.ts";
import type { AnyKind, ScopeName } from "../kind.ts";
import type { ThinnedNotice } from "../pruned-history.ts";
import type { Condition } from "./condition.ts";

/** Transaction to read as of. Live reads have none. */
export interface AsOf {
  readonly sequence: number;
  /** Highest record number at that time; higher ones can be skipped. */
  readonly lastN: number;
  /**
   * True for a long read of the present, pinned to one sequence: observation values are current and no version has
   * ended.
   */
  readonly present: boolean;
  /** If the requested time is in thinned history: the resolution and time of this response. */
  readonly thinned?: ThinnedNotice;
  /** Whether the successor of a version may have been thinned. */
  readonly endsAreThinned?: boolean;
}

/**
 * Resolved `at` of a request, fixed for the whole response (records/read-instant.ts). Plain data: it crosses to other
 * threads.
 */
export interface Moment {
  /** The requested time, possibly in the future; null if none was requested. */
  readonly at: Instant | null;
  /** Null for the present. */
  readonly asOf: AsOf | null;
}

/** Moment of a long read, where the present is pinned to one transaction. */
export interface FixedMoment extends Moment {
  readonly asOf: AsOf;
}

/** Visibility of a caller: an organization, and all or some of its networks. */
export interface Reach {
  readonly organizationN: number;
  /** Record numbers of networks; null for all networks of the organization. */
  readonly networkNs: readonly number[] | null;
}

export interface OrderTerm {
  readonly field: string;
  readonly direction: "asc" | "desc";
  /** Sorts by the kind's sort key (strings, addresses) instead of the value. */
  readonly byKey: boolean;
}

/**
 * Condition on a record's own field: one value, one referenced record with a column of that name, or an id list that
 * contains any of these.
 */
export type Filter =
  | { readonly field: string; readonly equals: string | number | boolean }
  | { readonly field: `${string}_id`; readonly names: string }
  | { readonly field: string; readonly namesAny: readonly string[] };

export interface ListQuery {
  readonly kind: AnyKind;
  readonly reach: Reach;
  readonly asOf: AsOf | null;
  /** Containers by id; a record must be in each. An id that is not a container matches nothing. */
  readonly within?: Partial<Record<ScopeName, string | undefined>> | undefined;
  readonly ids?: readonly string[] | undefined;
  readonly filters?: readonly Filter[] | undefined;
  /** Requires an evaluator to test each record: only the evaluator reads this field. */
  readonly condition?: Condition | undefined;
  /** Only records with these numbers, ascending. */
  readonly among?: Uint32Array;
  /** Exactly the records in these disjoint scopes; overrides all other selection. */
  readonly scopes?: readonly number[];
  /**
   * Exactly the records with these numbers; overrides all other selection. Ascending from an evaluator, or in list order
   * with an empty `order` if the order was precomputed.
   */
  readonly numbers?: Uint32Array;
  /** Words that must each be a prefix of a searchable word of the record. Without words, everything matches. */
  readonly search?: string | undefined;
  /** Empty for page order: `created_at`, then `id`. */
  readonly order?: readonly OrderTerm[] | undefined;
  /** Number of rows; 0 for all. */
  readonly limit: number;
  readonly offset: number;
}
