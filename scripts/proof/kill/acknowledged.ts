// Acknowledged writes by record, and requests without a response. Sends nothing to the appliance.

import type { JsonRecord } from "../../../test/support/appliance/factories.ts";

/** A write without a response: it must be applied completely or not at all. */
export interface PendingWrite {
  /** Number of the request; its records must be written atomically. */
  readonly request: number;
  /** Whether a record is in the requested state; takes null for a missing record. */
  readonly matches: (found: JsonRecord | null) => boolean;
}

/** Known fields of a record, as returned; null for a deleted record. */
export type Known = JsonRecord | null;

interface TrackedRecord {
  readonly path: string;
  known: Known;
  pending: PendingWrite | null;
  /** Fields to compare, if other writers own the others; null for all. */
  comparedFields: readonly string[] | null;
}

export class Acknowledged {
  private readonly tracked = new Map<string, TrackedRecord>();
  /** Unanswered requests, and whether the last comparison found them applied; omitted if that is not visible. */
  private readonly written = new Map<number, boolean>();
  /** Number of the last request. */
  lastRequest = 0;
  /** Number of writes with and without a response. */
  answered = 0;
  unanswered = 0;

  /**
   * Registers a request as pending until its response arrives.
   * @returns callback to call with the response's records, or with null after a refusal
   */
  register(
    path: string,
    expected: ReadonlyMap<string, PendingWrite["matches"]>,
  ): (answered: ReadonlyMap<string, Known> | null) => void {
    this.lastRequest += 1;
    this.unanswered += 1;
    const request = this.lastRequest;
    for (const [id, matches] of expected) this.trackedFor(path, id).pending = { request, matches };
    return (answered) => {
      this.unanswered -= 1;
      if (answered !== null) this.answered += 1;
      for (const id of expected.keys()) {
        const tracked = this.trackedFor(path, id);
        tracked.pending = null;
        if (answered?.has(id)) tracked.known = answered.get(id) ?? null;
      }
    };
  }

  /** Limits comparisons of a record to these fields. */
  limitFields(path: string, id: string, fields: readonly string[]): void {
    this.trackedFor(path, id).comparedFields = fields;
  }

  known(id: string): Known {
    return this.tracked.get(id)?.known ?? null;
  }

  /** Timestamps of the acknowledged current versions, by id. */
  get versions(): Array<{ readonly id: string; readonly at: string }> {
    return [...this.tracked].flatMap(([id, { known, pending }]) => {
      const at = known?.valid_from ?? known?.updated_at;
      return pending === null && typeof at === "string" ? [{ id, at }] : [];
    });
  }

  /** Whether an unanswered request was found to be applied; null if that is not visible. */
  wasWritten(request: number): boolean | null {
    return this.written.get(request) ?? null;
  }

  /**
   * Compares the tracked records with those found, and takes the latter as known from then on.
   * @param found all records under a path
   * @returns lost acknowledged writes, and partly applied requests
   */
  compare(path: string, found: readonly JsonRecord[]): { readonly lost: string[]; readonly partial: string[] } {
    const byId = new Map(found.map((record) => [String(record.id), record]));
    const [lost, partial]: [string[], string[]] = [[], []];
    /** States in which the records of each request were found: "old" or "new". */
    const outcomes = new Map<number, Set<string>>();
    for (const [id, tracked] of this.tracked) {
      if (tracked.path !== path) continue;
      const record = byId.get(id) ?? null;
      const isOld = matchesKnown(record, tracked.known);
      if (tracked.pending === null) {
        if (!isOld)
          lost.push(
            `${path}/${id}: acknowledged ${describe(tracked.known, record)}, found ${describe(record, tracked.known)}`,
          );
      } else {
        const isNew = tracked.pending.matches(record);
        if (!isOld && !isNew)
          partial.push(
            `${path}/${id}: neither in its former state ${describe(tracked.known, record)} nor as requested: ${describe(record, tracked.known)}`,
          );
        const outcome = outcomes.get(tracked.pending.request) ?? new Set();
        outcomes.set(tracked.pending.request, outcome);
        if (isOld !== isNew) outcome.add(isNew ? "new" : "old");
      }
      tracked.known =
        record === null || tracked.comparedFields === null
          ? record
          : Object.fromEntries(tracked.comparedFields.map((field) => [field, record[field]]));
      tracked.pending = null;
    }
    for (const [request, outcome] of outcomes) if (outcome.size === 1) this.written.set(request, outcome.has("new"));
    for (const [request, outcome] of outcomes)
      if (outcome.size > 1)
        partial.push(`${path}: request ${request} was written for some of its records, not for others`);
    for (const id of byId.keys())
      if (!this.tracked.has(id)) partial.push(`${path}/${id} exists, but was never requested`);
    this.unanswered = 0;
    return { lost, partial };
  }

  private trackedFor(path: string, id: string): TrackedRecord {
    const existing = this.tracked.get(id);
    if (existing !== undefined) return existing;
    const created: TrackedRecord = { path, known: null, pending: null, comparedFields: null };
    this.tracked.set(id, created);
    return created;
  }
}

/** Whether a record has exactly the known value in each known field. */
export function matchesKnown(found: Known, known: Known): boolean {
  if (found === null || known === null) return found === known;
  return Object.entries(known).every(
    ([name, value]) => OBSERVED.has(name) || Bun.deepEquals(normalize(name, found[name]), normalize(name, value)),
  );
}

/** Sorts tags, which are a set. */
function normalize(name: string, value: unknown): unknown {
  return name === "tags" && Array.isArray(value) ? [...value].sort() : value;
}

/** Fields written in batches after the response, without a guarantee of durability. */
const OBSERVED = new Set(["last_used", "last_seen_at"]);

/** Describes the fields in which a record differs from another. */
function describe(record: Known, other: Known): string {
  if (record === null) return "no record";
  if (other === null) return `${record.name ?? record.if_descr} of ${record.valid_from ?? record.updated_at}`;
  const names = Object.keys(record).filter((name) => name in other && !Bun.deepEquals(record[name], other[name]));
  return JSON.stringify(
    Object.fromEntries(names.map((name) => [name, JSON.stringify(record[name]).slice(0, 80)])),
  ).slice(0, 500);
}
