// Filter compiler: parses a filter for a kind of record into a condition. Reports all problems with fields and values
// at once. Does not read records.

import { customFieldKey } from "../base/custom-field-names.ts";
import { oneEntity } from "../base/entity-words.ts";
import { type DomainError, type Issue, invalid } from "../base/errors.ts";
import type { Instant } from "../base/instant.ts";
import { nearestName } from "../base/nearest-name.ts";
import type { Condition, ValueTest } from "../db/reading/condition.ts";
import { SEARCH_MAX_LENGTH, SEARCH_MAX_WORDS, searchWords } from "../db/search-text.ts";
import {
  type Comparator,
  excerpt,
  FilterProblem,
  type FunctionCall,
  type Literal,
  type Node,
  parseFilter,
  plainText,
} from "./filter/grammar.ts";
import { type InstantOf, instantFrom, testOfType, valueTest } from "./filter/value-tests.ts";
import type { Filterable, ResolvedField } from "./filter-fields.ts";

/** Context of a filter: its meaning depends on time and caller. */
export interface FilterContext {
  /** Ages count from here: the time of the list, otherwise now. */
  readonly base: Instant;
  readonly instantOf: InstantOf;
  /** The last transaction at or before a time, as far as retained. */
  readonly sequenceAt: (instant: Instant) => number;
}

const OVER_TIME = ["changes", "ever", "always", "was"] as const;
type OverTime = (typeof OVER_TIME)[number];

/** A parsed filter as plain data, so that it can be passed to another thread. */
export interface ParsedFilter {
  readonly text: string;
  /** Null for an empty filter. */
  readonly node: Node | null;
}

const EMPTY_FILTER: ParsedFilter = { text: "", node: null };

/** @throws DomainError validation_failed with the position of the first syntax error */
export function parsedFilter(text: string): ParsedFilter {
  if (text === "") return EMPTY_FILTER;
  try {
    return { text, node: parseFilter(text) };
  } catch (error) {
    throw error instanceof FilterProblem ? filterInvalid([error], text) : error;
  }
}

/**
 * @param fields that the filter may use
 * @returns null for an empty filter
 * @throws DomainError validation_failed with each position
 */
export function readFilter({ text, node }: ParsedFilter, fields: Filterable, context: FilterContext): Condition | null {
  if (node === null) return null;
  const problems: FilterProblem[] = [];
  const condition = new FilterReader(fields, context, problems).condition(node);
  if (problems.length > 0) throw filterInvalid(problems, text);
  return condition;
}

function filterInvalid(problems: readonly FilterProblem[], text: string): DomainError {
  const issues: Issue[] = problems.map(({ message, position }) => ({
    path: "/filter",
    message,
    value: excerpt(text.slice(position)),
    position,
  }));
  return invalid(issues);
}

/** Placeholder for an invalid part, so that parsing continues. */
const NOTHING: Condition = { type: "any", parts: [] };

class FilterReader {
  private readonly fields: Filterable;
  private readonly context: FilterContext;
  private readonly problems: FilterProblem[];

  constructor(fields: Filterable, context: FilterContext, problems: FilterProblem[]) {
    this.fields = fields;
    this.context = context;
    this.problems = problems;
  }

  condition(node: Node): Condition {
    return this.read(node, null);
  }

  /** @param within the enclosing function */
  private read(node: Node, within: OverTime | null): Condition {
    switch (node.type) {
      case "and":
        return { type: "all", parts: node.parts.map((part) => this.read(part, within)) };
      case "or":
        return { type: "any", parts: node.parts.map((part) => this.read(part, within)) };
      case "not":
        return { type: "not", part: this.read(node.part, within) };
      default:
        return this.attempt(() => this.term(node, within));
    }
  }

  private attempt(read: () => Condition): Condition {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof FilterProblem)) throw error;
      this.problems.push(error);
      return NOTHING;
    }
  }

  private term(node: Extract<Node, { type: "comparison" | "call" | "literal" }>, within: OverTime | null): Condition {
    if (node.type === "literal") return this.wordSearch(node.literal, within);
    if (node.type === "call") {
      if (within !== null)
        throw new FilterProblem(node.position, `must not use ${node.call.name}(…) within ${within}(…)`);
      return this.functionCall(node.call, node.by, node.value);
    }
    const { member, by, value } = node;
    const resolved = this.fields.resolve(member.segments, member.position);
    if (within !== null) assertVersioned(resolved, member.segments.join("."), within, member.position);
    return this.compare(resolved, by, value);
  }

  /** Condition for a comparison with a resolved field, following its references. */
  private compare(resolved: ResolvedField, by: Comparator, literal: Literal): Condition {
    const isPresence = by === ":" && literal.raw === "*" && !literal.isQuoted;
    // `!=` is NOT =, regardless of which references the field follows.
    if (by === "!=") return { type: "not", part: this.compare(resolved, "=", literal) };
    switch (resolved.type) {
      case "value": {
        const { place, within } = resolved;
        if (within !== null) {
          const that = isPresence ? null : idTest(this.test(resolved, by, literal));
          return { type: "names", paths: [place], kind: within, nested: that };
        }
        if (isPresence) return { type: "present", path: place };
        const test = this.test(resolved, by, literal);
        return {
          type: "field",
          path: place,
          test,
          ...(resolved.wordIndex === null ? {} : { wordIndex: resolved.wordIndex }),
        };
      }
      case "object":
        if (isPresence) return { type: "present", path: resolved.place };
        throw new FilterProblem(
          literal.position,
          `must compare a field of ${nameOf(resolved)}, or write ${nameOf(resolved)}:*`,
        );
      case "either":
        return { type: "any", parts: resolved.of.map((each) => this.compare(each, by, literal)) };
      case "names":
      case "named": {
        if (resolved.rest === null && !isPresence)
          throw new FilterProblem(
            literal.position,
            `must compare a field of ${oneEntity(resolved.kind)}, such as its id, or write :*`,
          );
        const that = resolved.rest === null ? null : this.compare(resolved.rest, by, literal);
        if (resolved.type === "names") {
          const { places, kind, entryOf } = resolved;
          return { type: "names", paths: places, kind, nested: that, ...(entryOf === undefined ? {} : { entryOf }) };
        }
        const { by: field, kind, where } = resolved;
        const parts = [where, that].flatMap((each) => each ?? []);
        return { type: "named", by: field, kind, nested: parts.length === 0 ? null : { type: "all", parts } };
      }
    }
  }

  private test(resolved: Extract<ResolvedField, { type: "value" }>, by: Comparator, literal: Literal): ValueTest {
    const test = valueTest(resolved.value, by, literal, this.context.instantOf);
    return resolved.isCustom === true ? testOfType(resolved.value, test) : test;
  }

  private wordSearch(literal: Literal, within: OverTime | null): Condition {
    const text = plainText(literal);
    if (within !== null) throw new FilterProblem(literal.position, `must have a comparison within ${within}(…)`);
    const { fields } = this;
    if (!literal.isQuoted && fields.names().includes(text))
      throw new FilterProblem(
        literal.position,
        `must compare ${text} with something, or write ${text}:*; quote it to search for the word`,
      );
    const { length } = searchWords(text);
    if (length === 0) throw new FilterProblem(literal.position, "must have a word to search for");
    if (length > SEARCH_MAX_WORDS || text.length > SEARCH_MAX_LENGTH)
      throw new FilterProblem(
        literal.position,
        `must search for at most ${SEARCH_MAX_WORDS} words and ${SEARCH_MAX_LENGTH} characters`,
      );
    if (!fields.isSearched)
      throw new FilterProblem(
        literal.position,
        `must compare a field: ${oneEntity(fields.entity)} is not searched by words`,
      );
    return { type: "found", search: text };
  }

  private functionCall(
    { name, args, position }: FunctionCall,
    by: Comparator | null,
    value: Literal | null,
  ): Condition {
    const isKnown = (OVER_TIME as readonly string[]).includes(name);
    if (!this.fields.hasVersions)
      throw new FilterProblem(
        position,
        isKnown
          ? `must not use ${name}(…): ${oneEntity(this.fields.entity)} has no versions`
          : `has no function ${excerpt(name)}()`,
      );
    if (!isKnown) {
      const nearest = nearestName(name, OVER_TIME);
      throw new FilterProblem(
        position,
        `has no function ${excerpt(name)}()${nearest === null ? `; there are ${OVER_TIME.join("(), ")}()` : `; ${nearest}()?`}`,
      );
    }
    const [first, second] = args;
    if (first === undefined || second === undefined || args.length > 2)
      throw new FilterProblem(position, `must write ${OVER_TIME_USAGE[name as OverTime]}`);
    if (name === "changes") return this.changes(first, second, by, value);
    if (by !== null)
      throw new FilterProblem(position, `must not compare ${name}(…), which is true or false: use NOT for false`);
    if (name === "was") {
      const instant = this.instant(first, "was");
      return { type: "was", sequence: this.context.sequenceAt(instant), nested: this.read(second, "was") };
    }
    const type = name as "ever" | "always";
    const after = this.context.sequenceAt(this.instant(second, type));
    return { type, after, nested: this.read(first, type) };
  }

  private changes(field: Node, period: Node, by: Comparator | null, value: Literal | null): Condition {
    if (field.type !== "literal" || field.literal.isQuoted)
      throw new FilterProblem(field.position, "must name a field first in changes(field, period)");
    const name = field.literal.raw;
    const resolved = this.fields.resolve(name.split("."), field.position);
    assertVersioned(resolved, name, "changes", field.position);
    if (name.includes(".") && customFieldKey(name) === null)
      throw new FilterProblem(
        field.position,
        `must count the changes to a whole field: ${name.slice(0, name.indexOf("."))}`,
      );
    const after = this.context.sequenceAt(this.instant(period, "changes"));
    if (by === null || value === null || by === ":")
      throw new FilterProblem(field.position, "must compare the number of changes: changes(field, period) >= 3");
    const isNegated = by === "!=";
    const { holds } = valueTest(
      { name: "number", isInBits: false },
      isNegated ? "=" : by,
      value,
      this.context.instantOf,
    );
    const changes: Condition = { type: "changes", after, field: name, test: holds };
    return isNegated ? { type: "not", part: changes } : changes;
  }

  /** Start of a period, or the time in question. */
  private instant(node: Node, name: OverTime): Instant {
    if (node.type !== "literal")
      throw new FilterProblem(node.position, `must have a timestamp or an age here: ${OVER_TIME_USAGE[name]}`);
    const instant = instantFrom(node.literal, this.context.instantOf);
    if (instant > this.context.base)
      throw new FilterProblem(node.position, "must not be after the timestamp of the list");
    return instant;
  }
}

/** Usage of each function, for messages. */
export const OVER_TIME_USAGE: Readonly<Record<OverTime, string>> = {
  changes: 'changes(field, period) >= 3, such as changes(oper_status, "-7d") >= 3',
  ever: 'ever(comparison, period), such as ever(oper_status = "Down", "-7d")',
  always: 'always(comparison, period), such as always(oper_status = "Up", "-7d")',
  was: 'was(instant, comparison), such as was("2026-11-01", oper_status = "Up")',
};

/** @throws FilterProblem for a field that is not stored in the record's own versions */
function assertVersioned(resolved: ResolvedField, name: string, within: OverTime, position: number): void {
  if (resolved.type === "names" || resolved.type === "named" || resolved.type === "either")
    throw new FilterProblem(
      position,
      `must use fields of the record itself within ${within}(…), but ${name} belongs to another record`,
    );
  if (resolved.type === "value" && resolved.within !== null)
    throw new FilterProblem(position, `must not use ${name} within ${within}(…): it depends on your current reach`);
  if (resolved.place.source !== "members")
    throw new FilterProblem(position, `must not use ${name} within ${within}(…): its changes create no version`);
}

function idTest(test: ValueTest): Condition {
  return { type: "field", path: { source: "members", steps: [{ name: "id", isMany: false }] }, test };
}

function nameOf({ place }: Extract<ResolvedField, { type: "object" }>): string {
  return place.steps.map(({ name }) => name).join(".");
}
