// Error collector for a body of one record, or of bulk write items by index, so that one rejection lists all errors.
// Independent of the kinds of records.

import { DomainError, type ErrorCode, type Issue, invalid } from "../base/errors.ts";
import { ownValue } from "../base/fields.ts";

/** Maximum number of issues in one error; a longer list would not be read. */
export const ISSUES_MAX = 10_000;

/** For descriptions of operations with such errors. */
export const ALL_ISSUES =
  "An error reports every problem in the body: a single problem with its own code and `params`; several in `params.issues`, each with its `code` unless all are `validation_failed`. The code of the response is then the one they share, else `validation_failed`.";

/** An issue with the error code it would have alone. */
export interface CodedIssue extends Issue {
  readonly code: ErrorCode;
}

/** Identifies an item in addition to its pointer: the record's id, or its table row. */
export type ItemName = Readonly<Record<string, string | number>>;

/** A part of an item; collects the errors of that part. */
export interface ItemPart {
  /** JSON pointer into the item: `/services/3`; empty for the entire item. */
  readonly pointer: string;
  /** Name of a field of the part in errors: `services/3/tags`. */
  field(name: string): string;
  /** A nested part. @param pointer into this part: `/bindings/0` */
  at(pointer: string): ItemPart;
  /** Adds issues, with pointers relative to the item. */
  note(...issues: readonly Issue[]): void;
  /**
   * Runs a step and notes its error, so that the next step can still run; nothing will be written.
   * @returns the result of the step, or null if it failed
   */
  attempt<T>(step: () => T): T | null;
}

/**
 * Runs a write of one record to completion before rejecting it.
 * @param write returns null only if it was rejected
 * @throws DomainError the error if there is one; else every issue, see ALL_ISSUES
 */
export function withCollectedIssues<T>(body: unknown, write: (part: ItemPart) => T | null): T {
  const issues = new IssueCollector();
  const result = write(issues.of(body));
  issues.throwAsOne();
  return result as T;
}

export class IssueCollector {
  private readonly list: CodedIssue[] = [];
  private first: DomainError | null = null;
  private errorCount = 0;

  /** Number of issues so far. */
  get count(): number {
    return this.list.length;
  }

  /**
   * The root part of an item.
   * @param item for looking up the values named in errors
   * @param pointer of the item in the body: `/3`; empty for the body itself
   * @param name added to each of its issues
   */
  of(item: unknown, pointer = "", name: ItemName = {}): ItemPart {
    return new PartCollector(this, item, { pointer, name }, "");
  }

  /** @param issues of one error, with pointers into the body */
  add(error: DomainError, issues: readonly CodedIssue[]): void {
    this.first ??= error;
    this.errorCount += 1;
    for (const issue of issues) this.list.push(issue);
  }

  /**
   * @throws DomainError with every issue and their common code, else validation_failed
   */
  throwIfAny(): void {
    const code = this.commonCode();
    if (code !== null) throw this.summaryError(code, {});
  }

  /** For a body of one record. @throws DomainError like withCollectedIssues */
  throwAsOne(): void {
    const { first, list, errorCount } = this;
    const code = this.commonCode();
    if (first === null || code === null) return;
    if (errorCount === 1) throw first;
    const isValidation = list.every((issue) => issue.code === "validation_failed");
    if (isValidation) throw invalid(list.slice(0, ISSUES_MAX).map(({ code: _code, ...issue }) => issue));
    throw this.summaryError(code, code === first.code ? first.params : {});
  }

  private summaryError(code: ErrorCode, params: Readonly<Record<string, unknown>>): DomainError {
    const first = this.list[0] as CodedIssue;
    const sentence =
      first.code === "validation_failed"
        ? `The field ${first.path} ${first.message}.`
        : `At ${first.path}: ${first.message}`;
    const others = this.list.length - 1;
    const suffix =
      others === 0 ? "" : ` ${others} more ${others === 1 ? "issue is" : "issues are"} listed in params.issues.`;
    return new DomainError(code, `${sentence}${suffix} Nothing was written.`, {
      ...params,
      issues: this.list.slice(0, ISSUES_MAX),
    });
  }

  /** Null without issues. */
  private commonCode(): ErrorCode | null {
    const [first] = this.list;
    if (first === undefined) return null;
    return this.list.every((issue) => issue.code === first.code) ? first.code : "validation_failed";
  }
}

/** Pointer of an item in the body, and its additional identification. */
interface ItemLocation {
  readonly pointer: string;
  readonly name: ItemName;
}

class PartCollector implements ItemPart {
  readonly pointer: string;
  private readonly issues: IssueCollector;
  private readonly item: unknown;
  private readonly location: ItemLocation;

  constructor(issues: IssueCollector, item: unknown, location: ItemLocation, pointer: string) {
    this.issues = issues;
    this.item = item;
    this.location = location;
    this.pointer = pointer;
  }

  field(name: string): string {
    return `${this.pointer}/${name}`.slice(1);
  }

  at(pointer: string): ItemPart {
    return new PartCollector(this.issues, this.item, this.location, `${this.pointer}${pointer}`);
  }

  note(...issues: readonly Issue[]): void {
    for (const issue of issues) this.report(invalid([issue]));
  }

  attempt<T>(step: () => T): T | null {
    try {
      return step();
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      this.report(error);
      return null;
    }
  }

  private report(error: DomainError): void {
    this.issues.add(
      error,
      issuesOf(error, this.item, this.pointer).map((issue) => ({
        ...this.location.name,
        ...issue,
        path: `${this.location.pointer}${issue.path}`,
      })),
    );
  }
}

/** Issues of an error, with pointers into the item. @param pointer the part where the error occurred */
function issuesOf(error: DomainError, item: unknown, pointer: string): CodedIssue[] {
  const { code, message, params } = error;
  if (code === "validation_failed" && Array.isArray(params.issues))
    return (params.issues as Issue[]).map((issue) => ({ ...issue, code }));
  if (code === "entity_stale")
    return [{ path: `${pointer}/expected_updated_at`, message, value: params.expected, code }];
  const field = params.field;
  if (typeof field !== "string") return [{ path: pointer, message, code }];
  if (code !== "entity_reference_invalid") return [{ path: `${pointer}/${field}`, message, value: params.value, code }];
  const ids = params.ids as string[];
  const occurrences = pointersTo(item, field.split("/"), new Set(ids), "");
  return occurrences.length === 0
    ? [{ path: `/${field}`, message, value: ids, code }]
    : occurrences.map(({ path, value }) => ({ path, message, value, code }));
}

/** Pointers to ids in the value: errors name the field without the list positions on its path. */
function pointersTo(
  value: unknown,
  fieldPath: readonly string[],
  ids: ReadonlySet<string>,
  pointer: string,
): Array<{ path: string; value: string }> {
  if (typeof value === "string") return fieldPath.length === 0 && ids.has(value) ? [{ path: pointer, value }] : [];
  if (value === null || typeof value !== "object") return [];
  if (fieldPath.length === 0 && "id" in value && typeof value.id === "string" && ids.has(value.id))
    return [{ path: `${pointer}/id`, value: value.id }];
  const [next, ...rest] = fieldPath;
  if (next !== undefined && Object.hasOwn(value, next))
    return pointersTo(ownValue(value as Record<string, unknown>, next), rest, ids, `${pointer}/${next}`);
  return Array.isArray(value)
    ? value.flatMap((each, position) => pointersTo(each, fieldPath, ids, `${pointer}/${position}`))
    : [];
}
