// Complete parallel walk of table columns, without looping. Independent of sockets. Pure.

import { groupedDigits } from "../../base/text.ts";
import type { ColumnRead, SnmpValue } from "../mib/reads.ts";
import { failure, isFailure, type SnmpFailure } from "./failure.ts";
import { compareOids } from "./oid.ts";
import { type AgentReply, ERROR_STATUS, type SnmpRequester, type Varbind } from "./requests.ts";
import { isException, varbindValue } from "./value.ts";

/** Beyond this number, the rows of a column count as fabricated. */
const ROW_CAP = 200_000;
/** Per device, across all walks: an agent that fabricates rows does so in every table. */
const VALUE_CAP = 800_000;
/** Response bytes per device. */
const BYTE_CAP = 64 * 2 ** 20;

export interface WalkOptions {
  /** Ends the walk, keeping the values read. */
  readonly signal: AbortSignal;
  /** Shared by all walks of one device. */
  readonly pace?: Pace;
  /** Consecutive unanswered requests, each smaller, that end the walk. */
  readonly maxSilences?: number;
  /** Default: ROW_CAP and VALUE_CAP. */
  readonly rowCap?: number;
  readonly valueCap?: number;
}

/** Size of a device's responses, per request and in total. */
export interface Pace {
  /** Maximum varbinds per request. */
  ceiling: number;
  /** Last known size of a varbind in a response. */
  varbindBytes: number;
  valueCount: number;
  byteCount: number;
}

export interface WalkResult {
  readonly columns: ReadonlyMap<string, ColumnRead>;
  /** Failure that ended the whole walk; null if each column ended by itself. */
  readonly failure: SnmpFailure | null;
}

export function newPace(): Pace {
  return { ceiling: MAX_VARBINDS, varbindBytes: FIRST_VARBIND_BYTES, valueCount: 0, byteCount: 0 };
}

/**
 * Walks each column until the agent leaves it. Keeps values read before a failure; a failed column does not affect the
 * others. A column is complete only if the agent returned its successor: a later OID, the end of its view, or
 * noSuchName in v1.
 * @param columns name → OID
 */
export async function walk(
  requester: SnmpRequester,
  columns: Readonly<Record<string, string>>,
  options: WalkOptions,
): Promise<WalkResult> {
  const running = new Walk(requester, columns, options);
  return running.run();
}

/** Larger responses are fragmented: firewalls drop fragments, and small agents do not send them. */
const RESPONSE_BYTES = 1_400;
const FIRST_VARBIND_BYTES = 50;
const MAX_VARBINDS = 100;
/** Additional columns wait. */
const MAX_WIDTH = 16;
const MAX_SILENCES = 2;

interface Column {
  readonly name: string;
  readonly oid: string;
  /** With the trailing dot. */
  readonly prefix: string;
  readonly values: Map<string, SnmpValue>;
  /** Index of the last value; "" before the first. */
  last: string;
  isComplete: boolean;
  problem: string | null;
}

class Walk {
  private readonly requester: SnmpRequester;
  private readonly signal: AbortSignal;
  private readonly pace: Pace;
  private readonly maxSilences: number;
  private readonly rowCap: number;
  private readonly valueCap: number;
  private readonly columns: readonly Column[];
  private active: Column[];
  private failure: SnmpFailure | null = null;
  private silentCount = 0;
  /** Columns per request, while isolating the row on which the agent fails. */
  private width = MAX_WIDTH;
  private singleRows = 0;

  constructor(requester: SnmpRequester, columns: Readonly<Record<string, string>>, options: WalkOptions) {
    this.requester = requester;
    this.signal = options.signal;
    this.pace = options.pace ?? newPace();
    this.maxSilences = options.maxSilences ?? MAX_SILENCES;
    this.rowCap = options.rowCap ?? ROW_CAP;
    this.valueCap = options.valueCap ?? VALUE_CAP;
    this.columns = Object.entries(columns).map(([name, oid]) => ({
      name,
      oid,
      prefix: `${oid}.`,
      values: new Map(),
      last: "",
      isComplete: false,
      problem: null,
    }));
    this.active = [...this.columns];
  }

  async run(): Promise<WalkResult> {
    const ceiling = this.pace.ceiling;
    while (this.active.length > 0) {
      const { group, rows } = this.nextRequest();
      const oids = group.map((column) => (column.last === "" ? column.oid : column.prefix + column.last));
      const reply = await this.requester.request(
        this.requester.hasBulk ? { kind: "GetBulk", oids, maxRepetitions: rows } : { kind: "GetNext", oids },
        this.signal,
      );
      if (isFailure(reply)) this.handleFailure(reply, group, rows);
      else this.handleReply(reply, group, rows);
      if (this.active.some(hasEnded)) this.active = this.active.filter((column) => !hasEnded(column));
    }
    // Silent even to the smallest request: size was not the cause.
    if (this.failure?.reason === "no_answer") this.pace.ceiling = ceiling;
    const columns = new Map(
      this.columns.map(({ name, isComplete, problem, values }) => [name, { isComplete, problem, values }]),
    );
    return { columns, failure: this.failure };
  }

  private nextRequest(): { group: Column[]; rows: number } {
    const fitting = Math.floor((RESPONSE_BYTES - ENVELOPE_BYTES) / this.pace.varbindBytes);
    const varbindCount = Math.min(this.pace.ceiling, Math.max(1, fitting));
    const width = Math.min(this.active.length, this.width, varbindCount);
    const rows = !this.requester.hasBulk || this.singleRows > 0 ? 1 : Math.max(1, Math.floor(varbindCount / width));
    return { group: this.active.slice(0, width), rows };
  }

  private handleFailure(problem: SnmpFailure, group: Column[], rows: number): void {
    if (problem.reason === "garbage") {
      this.narrow(group, rows, problem);
    } else if (problem.reason === "no_answer" && this.silentCount + 1 < this.maxSilences && group.length * rows > 1) {
      this.silentCount += 1;
      this.pace.ceiling = Math.max(1, Math.floor((group.length * rows) / 4));
    } else {
      this.end(problem);
    }
  }

  private handleReply(reply: AgentReply, group: Column[], rows: number): void {
    this.silentCount = 0;
    this.pace.byteCount += reply.byteCount;
    if (reply.errorStatus !== 0) {
      this.handleError(reply, group, rows);
      return;
    }
    if (reply.varbinds.length === 0) {
      this.shrink(group, rows, failure("garbage", "the device's response is empty"));
      return;
    }
    if (this.singleRows > 0) this.singleRows -= 1;
    this.pace.varbindBytes = Math.max(MIN_VARBIND_BYTES, (reply.byteCount - ENVELOPE_BYTES) / reply.varbinds.length);
    let position = 0;
    for (const varbind of reply.varbinds) {
      const column = group[position] as Column;
      position = position + 1 === group.length ? 0 : position + 1;
      if (hasEnded(column)) continue;
      if (!this.collect(column, varbind)) {
        // After a truncated varbind, the rest of the response is unreliable.
        if (varbind === reply.varbinds[0]) this.narrow(group, rows, failure("garbage"));
        break;
      }
    }
    if (this.pace.valueCount > this.valueCap || this.pace.byteCount > BYTE_CAP) this.end(failure("row_cap"));
  }

  /** @returns true if the varbind was complete */
  private collect(column: Column, varbind: Varbind): boolean {
    if (isException(varbind)) {
      column.isComplete = true;
      return true;
    }
    const { oid } = varbind;
    if (!oid.startsWith(column.prefix)) {
      if (compareOids(oid, column.oid) > 0) column.isComplete = true;
      else column.problem = `the device's responses do not advance: after ${column.prefix}${column.last} came ${oid}`;
      return true;
    }
    const index = oid.slice(column.prefix.length);
    if (compareOids(index, column.last) <= 0) {
      column.problem =
        index === column.last
          ? `the device repeats ${oid} endlessly`
          : `the device's responses do not advance: after ${column.prefix}${column.last} came ${oid}`;
      return true;
    }
    const value = varbindValue(varbind);
    if (value === undefined) return false;
    if (column.values.size >= this.rowCap) {
      column.problem = `it has more than ${groupedDigits(this.rowCap)} rows`;
      return true;
    }
    column.last = index;
    if (value !== null) column.values.set(index, value);
    this.pace.valueCount += 1;
    return true;
  }

  private handleError({ errorStatus, errorIndex }: AgentReply, group: Column[], rows: number): void {
    if (errorStatus === ERROR_STATUS.tooBig) {
      this.shrink(group, rows, failure("agent_error", "the device says that even a single value is too large"));
      return;
    }
    const [column] =
      errorIndex >= 1 && errorIndex <= group.length
        ? group.slice(errorIndex - 1, errorIndex)
        : group.length === 1
          ? group
          : [];
    if (errorStatus === ERROR_STATUS.noSuchName && column !== undefined) {
      column.isComplete = true;
      this.width = MAX_WIDTH;
      return;
    }
    const { clause } = errorFailure(errorStatus);
    // Earlier rows can still be read.
    if (rows > 1 || column === undefined) this.narrow(group, rows, failure("agent_error", clause));
    else this.fail(column, clause);
  }

  /** Permanently lowers the request size. */
  private shrink(group: Column[], rows: number, problem: SnmpFailure): void {
    const requestedCount = group.length * rows;
    if (requestedCount > 1) this.pace.ceiling = Math.max(1, Math.floor(requestedCount / 2));
    else this.fail(group[0] as Column, problem.clause);
  }

  /** Goes row by row, then column by column, until the failure is isolated. */
  private narrow(group: Column[], rows: number, problem: SnmpFailure): void {
    if (rows > 1) {
      this.singleRows = rows;
    } else if (group.length > 1) {
      this.width = 1;
      this.singleRows = 0;
    } else {
      this.fail(group[0] as Column, problem.clause);
    }
  }

  private fail(column: Column, problem: string): void {
    column.problem = problem;
    this.width = MAX_WIDTH;
    this.singleRows = 0;
  }

  private end(problem: SnmpFailure): void {
    this.failure = problem;
    for (const column of this.active) if (!column.isComplete) column.problem ??= problem.clause;
  }
}

/** Size of a message without its varbinds. */
const ENVELOPE_BYTES = 60;
const MIN_VARBIND_BYTES = 10;

export function errorFailure(errorStatus: number): SnmpFailure {
  if (errorStatus === ERROR_STATUS.noAccess || errorStatus === ERROR_STATUS.authorizationError)
    return failure("refused");
  const name = ERROR_NAMES[errorStatus];
  return failure("agent_error", `the device returned an error (${name ?? `error ${errorStatus}`})`);
}

const ERROR_NAMES: Readonly<Record<number, string>> = {
  1: "tooBig",
  2: "noSuchName",
  3: "badValue",
  4: "readOnly",
  5: "genErr",
};

function hasEnded(column: Column): boolean {
  return column.isComplete || column.problem !== null;
}
