// Collects what is wrong with a body, so that one refusal names all of it: of one record, or of the items of a bulk
// write by index. Must not know what the records are.

import { DomainError, type ErrorCode, type Issue, invalid } from "../base/errors.ts";
import { ownValue } from "../base/fields.ts";

/** Issues that one refusal lists at most: more of them are no list that anybody reads. */
export const ISSUES_MAX = 10_000;

/** For the descriptions of operations that name them. */
export const ALL_ISSUES =
  "An error reports everything wrong with the body: a single problem with its own code and `params`; several in `params.issues`, each with its `code` unless all are `validation_failed`. The code of the answer is then the one they share, else `validation_failed`.";

/** An issue with the code that it alone would have been refused with. */
export interface CodedIssue extends Issue {
  readonly code: ErrorCode;
}

/** What tells an item apart where its pointer does not: the record's id, or its row in a table. */
export type ItemName = Readonly<Record<string, string | number>>;

/** A part of an item, and where what is wrong with it is noted. */
export interface ItemPart {
  /** JSON pointer into the item: `/services/3`; empty for the item as a whole. */
  readonly pointer: string;
  /** A field of the part as errors call it: `services/3/tags`. */
  field(name: string): string;
  /** A part of this part. @param pointer into it: `/bindings/0` */
  at(pointer: string): ItemPart;
  /** Issues by their pointers into the item. */
  note(...issues: readonly Issue[]): void;
  /**
   * Runs a step. What it refuses is noted, and the next one can run: nothing will be written.
   * @returns what the step returned, or null where it was refused
   */
  attempt<T>(step: () => T): T | null;
}

/**
 * A write of one record, gone through to its end before it is refused.
 * @param write returns null only where it was refused
 * @throws DomainError what was refused, where that is one thing; else every issue, see ALL_OFFENDERS
 */
export function refusedAtOnce<T>(body: unknown, write: (whole: ItemPart) => T | null): T {
  const issues = new IssueCollector();
  const result = write(issues.of(body));
  issues.throwAsOne();
  return result as T;
}

export class IssueCollector {
  private readonly list: CodedIssue[] = [];
  private first: DomainError | null = null;
  private refusals = 0;

  /** How many there are so far. */
  get count(): number {
    return this.list.length;
  }

  /**
   * An item as a whole.
   * @param item to find the values in that a refusal names
   * @param pointer of the item in the body: `/3`; empty for the body itself
   * @param name is said with each of its issues
   */
  of(item: unknown, pointer = "", name: ItemName = {}): ItemPart {
    return new PartOfItem(this, item, { pointer, name }, "");
  }

  /** @param issues of one refusal, by pointers into the body */
  add(error: DomainError, issues: readonly CodedIssue[]): void {
    this.first ??= error;
    this.refusals += 1;
    for (const issue of issues) this.list.push(issue);
  }

  /**
   * @throws DomainError with every issue; its code is theirs where they have one in common, else validation_failed
   */
  throwIfAny(): void {
    const code = this.commonCode();
    if (code !== null) throw this.refusal(code, {});
  }

  /** Of a body that is one record. @throws DomainError as refusedAtOnce does */
  throwAsOne(): void {
    const { first, list, refusals } = this;
    const code = this.commonCode();
    if (first === null || code === null) return;
    if (refusals === 1) throw first;
    const isValidation = list.every((issue) => issue.code === "validation_failed");
    if (isValidation) throw invalid(list.slice(0, ISSUES_MAX).map(({ code: _code, ...issue }) => issue));
    throw this.refusal(code, code === first.code ? first.params : {});
  }

  private refusal(code: ErrorCode, params: Readonly<Record<string, unknown>>): DomainError {
    const first = this.list[0] as CodedIssue;
    const sentence =
      first.code === "validation_failed"
        ? `The field ${first.path} ${first.message}.`
        : `At ${first.path}: ${first.message}`;
    const others = this.list.length - 1;
    const more =
      others === 0 ? "" : ` ${others} more ${others === 1 ? "issue is" : "issues are"} listed in params.issues.`;
    return new DomainError(code, `${sentence}${more} Nothing was written.`, {
      ...params,
      issues: this.list.slice(0, ISSUES_MAX),
    });
  }

  /** Null where nothing was refused. */
  private commonCode(): ErrorCode | null {
    const [first] = this.list;
    if (first === undefined) return null;
    return this.list.every((issue) => issue.code === first.code) ? first.code : "validation_failed";
  }
}

/** Where an item stands in the body, and what it is called besides. */
interface ItemPlace {
  readonly pointer: string;
  readonly name: ItemName;
}

class PartOfItem implements ItemPart {
  readonly pointer: string;
  private readonly issues: IssueCollector;
  private readonly item: unknown;
  private readonly place: ItemPlace;

  constructor(issues: IssueCollector, item: unknown, place: ItemPlace, pointer: string) {
    this.issues = issues;
    this.item = item;
    this.place = place;
    this.pointer = pointer;
  }

  field(name: string): string {
    return `${this.pointer}/${name}`.slice(1);
  }

  at(pointer: string): ItemPart {
    return new PartOfItem(this.issues, this.item, this.place, `${this.pointer}${pointer}`);
  }

  note(...issues: readonly Issue[]): void {
    for (const issue of issues) this.refused(invalid([issue]));
  }

  attempt<T>(step: () => T): T | null {
    try {
      return step();
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      this.refused(error);
      return null;
    }
  }

  private refused(error: DomainError): void {
    this.issues.add(
      error,
      issuesOf(error, this.item, this.pointer).map((issue) => ({
        ...this.place.name,
        ...issue,
        path: `${this.place.pointer}${issue.path}`,
      })),
    );
  }
}

/** What an error says of an item, by pointers into it. @param at the part that it was found at */
function issuesOf(error: DomainError, item: unknown, at: string): CodedIssue[] {
  const { code, message, params } = error;
  if (code === "validation_failed" && Array.isArray(params.issues))
    return (params.issues as Issue[]).map((issue) => ({ ...issue, code }));
  if (code === "entity_stale") return [{ path: `${at}/expected_updated_at`, message, value: params.expected, code }];
  const field = params.field;
  if (typeof field !== "string") return [{ path: at, message, code }];
  if (code !== "entity_reference_invalid") return [{ path: `${at}/${field}`, message, value: params.value, code }];
  const ids = params.ids as string[];
  const places = placesOf(item, field.split("/"), new Set(ids), "");
  return places.length === 0
    ? [{ path: `/${field}`, message, value: ids, code }]
    : places.map(({ path, value }) => ({ path, message, value, code }));
}

/** Where ids stand: a field is reported without the positions in the lists that it leads through. */
function placesOf(
  value: unknown,
  way: readonly string[],
  ids: ReadonlySet<string>,
  at: string,
): Array<{ path: string; value: string }> {
  if (typeof value === "string") return way.length === 0 && ids.has(value) ? [{ path: at, value }] : [];
  if (value === null || typeof value !== "object") return [];
  if (way.length === 0 && "id" in value && typeof value.id === "string" && ids.has(value.id))
    return [{ path: `${at}/id`, value: value.id }];
  const [next, ...rest] = way;
  if (next !== undefined && Object.hasOwn(value, next))
    return placesOf(ownValue(value as Record<string, unknown>, next), rest, ids, `${at}/${next}`);
  return Array.isArray(value) ? value.flatMap((each, position) => placesOf(each, way, ids, `${at}/${position}`)) : [];
}
