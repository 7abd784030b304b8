// Acknowledged writes record by record, and requests without an answer. Must not speak to the appliance.

import type { Wire } from "../../../test/support/appliance/factories.ts";

/** A write without an answer: it must be applied fully or not at all. */
export interface Doubt {
  /** Of one request: all of its records agree. */
  readonly request: number;
  /** Whether a record is in the requested state; null for a missing one. */
  readonly matches: (found: Wire | null) => boolean;
}

/** Known fields of a record, as answered; null for a deleted record. */
export type Known = Wire | null;

interface Kept {
  readonly path: string;
  known: Known;
  doubt: Doubt | null;
  /** Other writers own its other fields. */
  only: readonly string[] | null;
}

export class Acknowledged {
  private readonly kept = new Map<string, Kept>();
  /** Whether the last comparison found unanswered requests applied. Requests without visible changes are omitted. */
  private readonly written = new Map<number, boolean>();
  /** Number of the last request. */
  lastRequest = 0;
  /** Number of answered writes, and of others. */
  answered = 0;
  unanswered = 0;

  /**
   * Registers a request: in doubt until it is answered.
   * @returns callback for the answer's records, or for none after a refusal
   */
  ask(
    path: string,
    wanted: ReadonlyMap<string, Doubt["matches"]>,
  ): (answered: ReadonlyMap<string, Known> | null) => void {
    this.lastRequest += 1;
    this.unanswered += 1;
    const request = this.lastRequest;
    for (const [id, matches] of wanted) this.of(path, id).doubt = { request, matches };
    return (answered) => {
      this.unanswered -= 1;
      if (answered !== null) this.answered += 1;
      for (const id of wanted.keys()) {
        const kept = this.of(path, id);
        kept.doubt = null;
        if (answered?.has(id)) kept.known = answered.get(id) ?? null;
      }
    };
  }

  /** Compares only these fields of this record. */
  narrow(path: string, id: string, fields: readonly string[]): void {
    this.of(path, id).only = fields;
  }

  known(id: string): Known {
    return this.kept.get(id)?.known ?? null;
  }

  /** Timestamps of the acknowledged current versions, by id. */
  get versions(): Array<{ readonly id: string; readonly at: string }> {
    return [...this.kept].flatMap(([id, { known, doubt }]) => {
      const at = known?.valid_from ?? known?.updated_at;
      return doubt === null && typeof at === "string" ? [{ id, at }] : [];
    });
  }

  /** Whether an unanswered request was found applied; null if that is not visible. */
  wasWritten(request: number): boolean | null {
    return this.written.get(request) ?? null;
  }

  /**
   * Compares with the found records, and accepts them as known from then on.
   * @param found all records under a path
   * @returns lost acknowledged writes, and half-applied requests
   */
  compare(path: string, found: readonly Wire[]): { readonly lost: string[]; readonly half: string[] } {
    const byId = new Map(found.map((record) => [String(record.id), record]));
    const [lost, half]: [string[], string[]] = [[], []];
    /** By request: whether its records are in the previous or the requested state. */
    const outcomes = new Map<number, Set<string>>();
    for (const [id, kept] of this.kept) {
      if (kept.path !== path) continue;
      const record = byId.get(id) ?? null;
      const isOld = isAs(record, kept.known);
      if (kept.doubt === null) {
        if (!isOld)
          lost.push(
            `${path}/${id}: acknowledged ${describe(kept.known, record)}, found ${describe(record, kept.known)}`,
          );
      } else {
        const isNew = kept.doubt.matches(record);
        if (!isOld && !isNew)
          half.push(
            `${path}/${id}: neither in its former state ${describe(kept.known, record)} nor as requested: ${describe(record, kept.known)}`,
          );
        const outcome = outcomes.get(kept.doubt.request) ?? new Set();
        outcomes.set(kept.doubt.request, outcome);
        if (isOld !== isNew) outcome.add(isNew ? "new" : "old");
      }
      kept.known =
        record === null || kept.only === null
          ? record
          : Object.fromEntries(kept.only.map((field) => [field, record[field]]));
      kept.doubt = null;
    }
    for (const [request, outcome] of outcomes) if (outcome.size === 1) this.written.set(request, outcome.has("new"));
    for (const [request, outcome] of outcomes)
      if (outcome.size > 1)
        half.push(`${path}: request ${request} was written for some of its records, not for others`);
    for (const id of byId.keys()) if (!this.kept.has(id)) half.push(`${path}/${id} exists, but was never requested`);
    this.unanswered = 0;
    return { lost, half };
  }

  private of(path: string, id: string): Kept {
    const known = this.kept.get(id);
    if (known !== undefined) return known;
    const made: Kept = { path, known: null, doubt: null, only: null };
    this.kept.set(id, made);
    return made;
  }
}

/** Whether each known field has exactly its value. */
export function isAs(found: Known, known: Known): boolean {
  if (found === null || known === null) return found === known;
  return Object.entries(known).every(
    ([name, value]) => OBSERVED.has(name) || Bun.deepEquals(inOrder(name, found[name]), inOrder(name, value)),
  );
}

/** Tags are a set. */
function inOrder(name: string, value: unknown): unknown {
  return name === "tags" && Array.isArray(value) ? [...value].sort() : value;
}

/** Written in batches after the answer: no durability is guaranteed. */
const OBSERVED = new Set(["last_used", "last_seen_at"]);

/** Fields in which it differs from the other. */
function describe(record: Known, other: Known): string {
  if (record === null) return "nothing";
  if (other === null) return `${record.name ?? record.if_descr} of ${record.valid_from ?? record.updated_at}`;
  const names = Object.keys(record).filter((name) => name in other && !Bun.deepEquals(record[name], other[name]));
  return JSON.stringify(
    Object.fromEntries(names.map((name) => [name, JSON.stringify(record[name]).slice(0, 80)])),
  ).slice(0, 500);
}
