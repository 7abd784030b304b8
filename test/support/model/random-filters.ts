// Random filters: each as text for a list request, and as a tree for the reference implementation.

import type { JsonRecord } from "../appliance/factories.ts";
import type { SeededRandom } from "../injected/seeded-random.ts";
import { type QueriedKind, REFERENCES, type Version, valuesIn } from "./filter-dataset.ts";
import { TEXTS } from "./filter-drafts.ts";
import type { FieldPath, Filter, Operator } from "./filter-reference.ts";
import { drawStart, drawValue, type FieldType, formatValue, type Markers } from "./filter-values.ts";

export interface DescribedField extends FieldType {
  readonly name: string;
  readonly operators: readonly string[];
  readonly over_time: boolean;
}

export interface DrawnFilter {
  readonly text: string;
  readonly filter: Filter;
}

const WORDS = TEXTS.filter((text) => /[\p{L}\p{N}]{2}/u.test(text)).map((text) => text.slice(0, 40));

const TYPES_WITH_NOTATIONS = new Set(["text", "number", "instant", "ip_address", "prefix", "mac_address"]);

export class RandomFilters {
  /** Filters drawn, counted by operator and type, by function, by number of references. */
  readonly drawnCounts = new Map<string, number>();
  private readonly random: SeededRandom;
  private readonly fields: ReadonlyMap<QueriedKind, readonly DescribedField[]>;
  private readonly instants: readonly string[];
  private readonly markers: Markers;
  private readonly records: ReadonlyMap<QueriedKind, readonly JsonRecord[]>;
  private readonly knownValues = new Map<string, unknown[]>();
  private readonly searched: ReadonlySet<QueriedKind>;

  constructor(options: {
    readonly random: SeededRandom;
    readonly fields: ReadonlyMap<QueriedKind, readonly DescribedField[]>;
    readonly searched: ReadonlySet<QueriedKind>;
    readonly versions: ReadonlyMap<string, readonly Version[]>;
    readonly instants: readonly string[];
    readonly markers: Markers;
  }) {
    this.random = options.random;
    this.fields = options.fields;
    this.instants = options.instants;
    this.markers = options.markers;
    this.searched = options.searched;
    const records = new Map<QueriedKind, JsonRecord[]>();
    for (const version of [...options.versions.values()].flat())
      if (version.record !== null) records.set(version.kind, [...(records.get(version.kind) ?? []), version.record]);
    this.records = records;
  }

  /** @param at time from which ages are counted, and the end of periods */
  draw(kind: QueriedKind, at: number): DrawnFilter {
    return this.drawTree(this.random.integer(4), () => this.drawTerm(kind, at));
  }

  /** Draws a filter with only history functions, on fields of the record itself. */
  drawHistory(kind: QueriedKind, at: number): DrawnFilter {
    return this.drawTree(this.random.integer(2), () => this.drawOverTime(kind, at));
  }

  /** Draws one comparison of a field of the record itself, of a type with many notations. */
  drawValue(kind: QueriedKind, at: number): DrawnFilter {
    const fields = this.ownFields(kind).filter(({ type }) => TYPES_WITH_NOTATIONS.has(type));
    return this.drawComparison(kind, [], fields, at);
  }

  private drawTree(depth: number, drawLeaf: () => DrawnFilter): DrawnFilter {
    const { random } = this;
    const roll = depth === 0 ? 0 : random.integer(10);
    if (roll < 4) return drawLeaf();
    if (roll < 6) {
      const nested = this.drawTree(depth - 1, drawLeaf);
      const inner = isAtom(nested) && random.integer(3) > 0 ? nested.text : `(${nested.text})`;
      return { text: `${random.pick(["NOT ", "-"])}${inner}`, filter: { type: "not", nested: nested.filter } };
    }
    const type = roll < 8 ? "all" : "any";
    const nested = Array.from({ length: 2 + random.integer(2) }, () => this.drawTree(depth - 1, drawLeaf));
    const join = type === "any" ? " OR " : random.pick([" AND ", " ", "  AND\n"]);
    const texts = nested.map((term) =>
      (isAtom(term) || term.filter.type === "not") && random.integer(4) > 0 ? term.text : `(${term.text})`,
    );
    return { text: texts.join(join), filter: { type, nested: nested.map((term) => term.filter) } };
  }

  private drawTerm(kind: QueriedKind, at: number): DrawnFilter {
    const { random } = this;
    const roll = random.integer(20);
    if (roll === 0 && this.searched.has(kind)) return this.drawWords();
    if (roll < 6) return this.drawOverTime(kind, at);
    const { references, to } = this.drawReferences(kind);
    this.count(`${references.length} references`);
    if (references.length > 0 && random.integer(8) === 0)
      return { text: `${references.join(".")}:*`, filter: { type: "present", field: { references, path: [] } } };
    return this.drawComparison(to, references, this.ownFields(to), at);
  }

  /** Up to three references to another record. */
  private drawReferences(kind: QueriedKind): { references: string[]; to: QueriedKind } {
    const references: string[] = [];
    let to = kind;
    for (let hops = this.random.pick([0, 0, 0, 0, 1, 1, 1, 2, 2, 3]); hops > 0; hops -= 1) {
      const names = Object.keys(REFERENCES[to]);
      if (names.length === 0) break;
      const name = this.random.pick(names);
      references.push(name);
      to = REFERENCES[to][name]?.to as QueriedKind;
    }
    return { references, to };
  }

  private ownFields(kind: QueriedKind): DescribedField[] {
    return (this.fields.get(kind) ?? []).filter(({ name, type }) => type !== "record" && !isAssignmentField(name));
  }

  private drawComparison(
    kind: QueriedKind,
    references: readonly string[],
    fields: readonly DescribedField[],
    at: number,
  ): DrawnFilter {
    const { random } = this;
    // Every type is equally likely, if present.
    const type = random.pick([...new Set(fields.map((field) => field.type))]);
    const described = random.pick(fields.filter((field) => field.type === type));
    // Shorthand for the name of the remote device.
    const [, end] = /^(.*\bneighbor)\.name$/.exec(described.name) ?? [];
    const field: FieldPath =
      end === undefined
        ? { references, path: described.name.split(".") }
        : { references: [...references, `${end}.host`], path: ["name"] };
    const name = [...references, described.name].join(".");
    const operator = random.pick(described.operators);
    this.count(`${operator} ${type}`);
    if (operator === ":*") return { text: `${name}:*`, filter: { type: "present", field } };
    const baseOperator = (operator === "!=" ? "=" : operator) as Operator;
    const value = drawValue(
      random,
      described,
      baseOperator,
      this.knownValuesOf(end === undefined ? kind : "host", field.path),
      at,
    );
    const gap = random.pick([" ", " ", ""]);
    const comparison: Filter = { type: "compared", field, matches: value.matches };
    return {
      text: `${name}${gap}${operator}${gap}${value.text}`,
      filter: operator === "!=" ? { type: "not", nested: comparison } : comparison,
    };
  }

  private drawOverTime(kind: QueriedKind, at: number): DrawnFilter {
    const { random } = this;
    const type = random.pick(["changes", "ever", "always", "was"] as const);
    this.count(type);
    const { text: start, from } = drawStart(random, this.instants, this.markers, at);
    const fields = this.ownFields(kind).filter((field) => field.over_time);
    if (type === "changes") {
      const { name } = random.pick(fields.filter((field) => !field.name.includes(".")));
      const operator = random.pick(["=", "!=", "<", "<=", ">", ">="] as const);
      const count = random.integer(4);
      return {
        text: `changes(${name}, ${start}) ${operator} ${count}`,
        filter: { type, path: [name], from, matches: (changes) => compares(operator, changes, count) },
      };
    }
    const inner = this.drawTree(2, () => this.drawComparison(kind, [], fields, at));
    if (type === "was")
      return { text: `was(${start}, ${inner.text})`, filter: { type, at: from, nested: inner.filter } };
    return { text: `${type}(${inner.text}, ${start})`, filter: { type, from, nested: inner.filter } };
  }

  private drawWords(): DrawnFilter {
    const words = this.random.pick(WORDS);
    this.count("words");
    const text = formatValue(this.random, words);
    return { text: /^["']/.test(text) ? text : `"${words}"`, filter: { type: "words", words } };
  }

  private knownValuesOf(kind: QueriedKind, path: readonly string[]): unknown[] {
    const key = `${kind}.${path.join(".")}`;
    const knownValues =
      this.knownValues.get(key) ?? (this.records.get(kind) ?? []).flatMap((record) => valuesIn(record, path));
    this.knownValues.set(key, knownValues);
    return knownValues;
  }

  private count(key: string): void {
    this.drawnCounts.set(key, (this.drawnCounts.get(key) ?? 0) + 1);
  }
}

/** Assignments are separate records that no list returns. */
function isAssignmentField(name: string): boolean {
  return /^(credential_assignments|credential_ids|host_assignments|assigned_network_ids)(\.|$)/.test(name);
}

/** Whether a filter combines with others without parentheses. */
function isAtom({ filter }: DrawnFilter): boolean {
  return filter.type !== "all" && filter.type !== "any" && !(filter.type === "not");
}

function compares(operator: "=" | "!=" | "<" | "<=" | ">" | ">=", a: number, b: number): boolean {
  return { "=": a === b, "!=": a !== b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b }[operator];
}

/** All search words in a filter. */
export function wordsIn(filter: Filter): string[] {
  switch (filter.type) {
    case "words":
      return [filter.words];
    case "all":
    case "any":
      return filter.nested.flatMap(wordsIn);
    case "not":
    case "ever":
    case "always":
    case "was":
      return wordsIn(filter.nested);
    default:
      return [];
  }
}

/** Start of the period of each history function in a filter. */
export function startsIn(filter: Filter): number[] {
  switch (filter.type) {
    case "changes":
    case "ever":
    case "always":
      return [filter.from];
    case "was":
      return [filter.at];
    case "all":
    case "any":
      return filter.nested.flatMap(startsIn);
    case "not":
      return startsIn(filter.nested);
    default:
      return [];
  }
}
