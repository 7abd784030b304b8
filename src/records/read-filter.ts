// Filter compiler: parses a filter for a kind of record into a condition. Reports all problems with fields and values
// at once. Must not read records.

import { customFieldKey } from "../base/custom-field-names.ts";
import { oneEntity } from "../base/entity-words.ts";
import { type DomainError, type Issue, invalid } from "../base/errors.ts";
import type { Instant } from "../base/instant.ts";
import { nearestName } from "../base/nearest-name.ts";
import type { Condition, ValueTest } from "../db/reading/condition.ts";
import { SEARCH_MAX_LENGTH, SEARCH_MAX_WORDS, searchWords } from "../db/search-text.ts";
import {
  type Comparator,
  FilterProblem,
  type FunctionCall,
  type Literal,
  type Node,
  parseFilter,
  plainText,
  shownPart,
} from "./filter/grammar.ts";
import { type InstantOf, instantFrom, testOfType, valueTest } from "./filter/value-tests.ts";
import type { Asked, Filterable } from "./filter-fields.ts";

/** Context of a filter: its meaning depends on time and caller. */
export interface FilterTerms {
  /** Ages count from here: the time of the list, otherwise now. */
  readonly base: Instant;
  readonly instantOf: InstantOf;
  /** The last transaction at or before a time, as far as retained. */
  readonly sequenceAt: (instant: Instant) => number;
}

const OVER_TIME = ["changes", "ever", "always", "was"] as const;
type OverTime = (typeof OVER_TIME)[number];

/**
 * @param fields that the filter may use
 * @returns null for an empty filter
 * @throws DomainError validation_failed with each position
 */
export function readFilter(text: string, fields: Filterable, terms: FilterTerms): Condition | null {
  const problems: FilterProblem[] = [];
  let condition: Condition | null = null;
  try {
    const node = parseFilter(text);
    if (node !== null) condition = new FilterReader(fields, terms, problems).condition(node);
  } catch (error) {
    if (!(error instanceof FilterProblem)) throw error;
    problems.push(error);
  }
  if (problems.length > 0) throw filterInvalid(problems, text);
  return condition;
}

function filterInvalid(problems: readonly FilterProblem[], text: string): DomainError {
  const issues: Issue[] = problems.map(({ message, position }) => ({
    path: "/filter",
    message,
    value: shownPart(text.slice(position)),
    position,
  }));
  return invalid(issues);
}

/** Placeholder for an invalid part, so that parsing continues. */
const NOTHING: Condition = { type: "any", parts: [] };

class FilterReader {
  private readonly fields: Filterable;
  private readonly terms: FilterTerms;
  private readonly problems: FilterProblem[];

  constructor(fields: Filterable, terms: FilterTerms, problems: FilterProblem[]) {
    this.fields = fields;
    this.terms = terms;
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
        return this.tried(() => this.term(node, within));
    }
  }

  private tried(read: () => Condition): Condition {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof FilterProblem)) throw error;
      this.problems.push(error);
      return NOTHING;
    }
  }

  private term(node: Extract<Node, { type: "comparison" | "call" | "literal" }>, within: OverTime | null): Condition {
    if (node.type === "literal") return this.searched(node.literal, within);
    if (node.type === "call") {
      if (within !== null)
        throw new FilterProblem(node.position, `must not use ${node.call.name}(…) within ${within}(…)`);
      return this.called(node.call, node.by, node.value);
    }
    const { member, by, value } = node;
    const asked = this.fields.resolve(member.segments, member.position);
    if (within !== null) assertVersioned(asked, member.segments.join("."), within, member.position);
    return this.asked(asked, by, value);
  }

  /** Condition for a comparison with a resolved field, following its references. */
  private asked(asked: Asked, by: Comparator, literal: Literal): Condition {
    const isPresence = by === ":" && literal.raw === "*" && !literal.isQuoted;
    // `!=` is NOT =, whatever references the field follows.
    if (by === "!=") return { type: "not", part: this.asked(asked, "=", literal) };
    switch (asked.type) {
      case "value": {
        const { place, within } = asked;
        if (within !== null) {
          const that = isPresence ? null : idIs(this.test(asked, by, literal));
          return { type: "names", places: [place], kind: within, that };
        }
        if (isPresence) return { type: "present", place };
        const test = this.test(asked, by, literal);
        return { type: "field", place, test, ...(asked.called === null ? {} : { called: asked.called }) };
      }
      case "object":
        if (isPresence) return { type: "present", place: asked.place };
        throw new FilterProblem(
          literal.position,
          `must compare a field of ${nameOf(asked)}, or write ${nameOf(asked)}:*`,
        );
      case "either":
        return { type: "any", parts: asked.of.map((each) => this.asked(each, by, literal)) };
      case "names":
      case "named": {
        if (asked.rest === null && !isPresence)
          throw new FilterProblem(
            literal.position,
            `must compare a field of ${oneEntity(asked.kind)}, such as its id, or write :*`,
          );
        const that = asked.rest === null ? null : this.asked(asked.rest, by, literal);
        if (asked.type === "names") {
          const { places, kind, entryOf } = asked;
          return { type: "names", places, kind, that, ...(entryOf === undefined ? {} : { entryOf }) };
        }
        const { by: field, kind, where } = asked;
        const parts = [where, that].flatMap((each) => each ?? []);
        return { type: "named", by: field, kind, that: parts.length === 0 ? null : { type: "all", parts } };
      }
    }
  }

  private test(asked: Extract<Asked, { type: "value" }>, by: Comparator, literal: Literal): ValueTest {
    const test = valueTest(asked.value, by, literal, this.terms.instantOf);
    return asked.isCustom === true ? testOfType(asked.value, test) : test;
  }

  private searched(literal: Literal, within: OverTime | null): Condition {
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

  private called({ name, args, position }: FunctionCall, by: Comparator | null, value: Literal | null): Condition {
    const isKnown = (OVER_TIME as readonly string[]).includes(name);
    if (!this.fields.hasVersions)
      throw new FilterProblem(
        position,
        isKnown
          ? `must not use ${name}(…): ${oneEntity(this.fields.entity)} has no versions`
          : `has no function ${shownPart(name)}()`,
      );
    if (!isKnown) {
      const nearest = nearestName(name, OVER_TIME);
      throw new FilterProblem(
        position,
        `has no function ${shownPart(name)}()${nearest === null ? `; there are ${OVER_TIME.join("(), ")}()` : `; ${nearest}()?`}`,
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
      return { type: "was", as: this.terms.sequenceAt(instant), that: this.read(second, "was") };
    }
    const type = name as "ever" | "always";
    const after = this.terms.sequenceAt(this.instant(second, type));
    return { type, after, that: this.read(first, type) };
  }

  private changes(field: Node, period: Node, by: Comparator | null, value: Literal | null): Condition {
    if (field.type !== "literal" || field.literal.isQuoted)
      throw new FilterProblem(field.position, "must name a field first in changes(field, period)");
    const name = field.literal.raw;
    const asked = this.fields.resolve(name.split("."), field.position);
    assertVersioned(asked, name, "changes", field.position);
    if (name.includes(".") && customFieldKey(name) === null)
      throw new FilterProblem(
        field.position,
        `must count the changes of a whole field: ${name.slice(0, name.indexOf("."))}`,
      );
    const after = this.terms.sequenceAt(this.instant(period, "changes"));
    if (by === null || value === null || by === ":")
      throw new FilterProblem(field.position, "must compare how many changes there were: changes(field, period) >= 3");
    const isNegated = by === "!=";
    const { holds } = valueTest({ name: "number", isInBits: false }, isNegated ? "=" : by, value, this.terms.instantOf);
    const changes: Condition = { type: "changes", after, field: name, test: holds };
    return isNegated ? { type: "not", part: changes } : changes;
  }

  /** Start of a period, or the time in question. */
  private instant(node: Node, name: OverTime): Instant {
    if (node.type !== "literal")
      throw new FilterProblem(node.position, `must have an instant or an age here: ${OVER_TIME_USAGE[name]}`);
    const instant = instantFrom(node.literal, this.terms.instantOf);
    if (instant > this.terms.base) throw new FilterProblem(node.position, "must not be after the instant of the list");
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
function assertVersioned(asked: Asked, name: string, within: OverTime, position: number): void {
  if (asked.type === "names" || asked.type === "named" || asked.type === "either")
    throw new FilterProblem(
      position,
      `must use fields of the record itself within ${within}(…), but ${name} belongs to another record`,
    );
  if (asked.type === "value" && asked.within !== null)
    throw new FilterProblem(position, `must not use ${name} within ${within}(…): it shows your current reach`);
  if (asked.place.of !== "members")
    throw new FilterProblem(position, `must not use ${name} within ${within}(…): its changes make no version`);
}

function idIs(test: ValueTest): Condition {
  return { type: "field", place: { of: "members", steps: [{ name: "id", isMany: false }] }, test };
}

function nameOf({ place }: Extract<Asked, { type: "object" }>): string {
  return place.steps.map(({ name }) => name).join(".");
}
