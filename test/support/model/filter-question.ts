// Random filters: each as text for a list, and as a tree for plain code. Must not judge the answers of the appliance.

import type { Wire } from "../appliance/factories.ts";
import type { SeededRandom } from "../injected/seeded-random.ts";
import type { Ask, AskedField, Operator } from "./filter-answers.ts";
import { TEXTS } from "./filter-drafts.ts";
import { type AskedKind, LEADS, type Version, valuesIn } from "./filter-scene.ts";
import { drawStart, drawValue, type FieldType, type Markers, written } from "./filter-values.ts";

export interface DescribedField extends FieldType {
  readonly name: string;
  readonly operators: readonly string[];
  readonly over_time: boolean;
}

export interface Question {
  readonly text: string;
  readonly ask: Ask;
}

const WORDS = TEXTS.filter((text) => /[\p{L}\p{N}]{2}/u.test(text)).map((text) => text.slice(0, 40));

const WRITTEN_IN_MANY_WAYS = new Set(["text", "number", "instant", "ip_address", "prefix", "mac_address"]);

export class FilterQuestions {
  /** Filters drawn, counted by operator and type, by function, by number of references. */
  readonly asked = new Map<string, number>();
  private readonly random: SeededRandom;
  private readonly fields: ReadonlyMap<AskedKind, readonly DescribedField[]>;
  private readonly instants: readonly string[];
  private readonly markers: Markers;
  private readonly records: ReadonlyMap<AskedKind, readonly Wire[]>;
  private readonly known = new Map<string, unknown[]>();
  private readonly searched: ReadonlySet<AskedKind>;

  constructor(given: {
    readonly random: SeededRandom;
    readonly fields: ReadonlyMap<AskedKind, readonly DescribedField[]>;
    readonly searched: ReadonlySet<AskedKind>;
    readonly versions: ReadonlyMap<string, readonly Version[]>;
    readonly instants: readonly string[];
    readonly markers: Markers;
  }) {
    this.random = given.random;
    this.fields = given.fields;
    this.instants = given.instants;
    this.markers = given.markers;
    this.searched = given.searched;
    const records = new Map<AskedKind, Wire[]>();
    for (const version of [...given.versions.values()].flat())
      if (version.record !== null) records.set(version.kind, [...(records.get(version.kind) ?? []), version.record]);
    this.records = records;
  }

  /** @param at end of ages and periods */
  draw(kind: AskedKind, at: number): Question {
    return this.drawTree(this.random.integer(4), () => this.drawTerm(kind, at));
  }

  /** Draws a filter with only history functions, on fields of the record itself. */
  drawPast(kind: AskedKind, at: number): Question {
    return this.drawTree(this.random.integer(2), () => this.drawOverTime(kind, at));
  }

  /** Draws one comparison of a field of the record itself, of a type with many notations. */
  drawValue(kind: AskedKind, at: number): Question {
    const fields = this.ownFields(kind).filter(({ type }) => WRITTEN_IN_MANY_WAYS.has(type));
    return this.drawComparison(kind, [], fields, at);
  }

  private drawTree(depth: number, drawLeaf: () => Question): Question {
    const { random } = this;
    const dice = depth === 0 ? 0 : random.integer(10);
    if (dice < 4) return drawLeaf();
    if (dice < 6) {
      const of = this.drawTree(depth - 1, drawLeaf);
      const inner = isAtom(of) && random.integer(3) > 0 ? of.text : `(${of.text})`;
      return { text: `${random.pick(["NOT ", "-"])}${inner}`, ask: { is: "not", of: of.ask } };
    }
    const is = dice < 8 ? "all" : "any";
    const of = Array.from({ length: 2 + random.integer(2) }, () => this.drawTree(depth - 1, drawLeaf));
    const join = is === "any" ? " OR " : random.pick([" AND ", " ", "  AND\n"]);
    const texts = of.map((each) =>
      (isAtom(each) || each.ask.is === "not") && random.integer(4) > 0 ? each.text : `(${each.text})`,
    );
    return { text: texts.join(join), ask: { is, of: of.map((each) => each.ask) } };
  }

  private drawTerm(kind: AskedKind, at: number): Question {
    const { random } = this;
    const dice = random.integer(20);
    if (dice === 0 && this.searched.has(kind)) return this.drawWords();
    if (dice < 6) return this.drawOverTime(kind, at);
    const { through, to } = this.drawWay(kind);
    this.count(`${through.length} references`);
    if (through.length > 0 && random.integer(8) === 0)
      return { text: `${through.join(".")}:*`, ask: { is: "there", field: { through, path: [] } } };
    return this.drawComparison(to, through, this.ownFields(to), at);
  }

  /** Up to three references to another record. */
  private drawWay(kind: AskedKind): { through: string[]; to: AskedKind } {
    const through: string[] = [];
    let to = kind;
    for (let hops = this.random.pick([0, 0, 0, 0, 1, 1, 1, 2, 2, 3]); hops > 0; hops -= 1) {
      const names = Object.keys(LEADS[to]);
      if (names.length === 0) break;
      const name = this.random.pick(names);
      through.push(name);
      to = LEADS[to][name]?.to as AskedKind;
    }
    return { through, to };
  }

  private ownFields(kind: AskedKind): DescribedField[] {
    return (this.fields.get(kind) ?? []).filter(({ name, type }) => type !== "record" && !isOfAssignment(name));
  }

  private drawComparison(
    kind: AskedKind,
    through: readonly string[],
    fields: readonly DescribedField[],
    at: number,
  ): Question {
    const { random } = this;
    // Every type is equally likely, if present.
    const type = random.pick([...new Set(fields.map((field) => field.type))]);
    const described = random.pick(fields.filter((field) => field.type === type));
    // Shorthand for the name of the remote device.
    const [, end] = /^(.*\bneighbor)\.name$/.exec(described.name) ?? [];
    const field: AskedField =
      end === undefined
        ? { through, path: described.name.split(".") }
        : { through: [...through, `${end}.host`], path: ["name"] };
    const name = [...through, described.name].join(".");
    const operator = random.pick(described.operators);
    this.count(`${operator} ${type}`);
    if (operator === ":*") return { text: `${name}:*`, ask: { is: "there", field } };
    const plain = (operator === "!=" ? "=" : operator) as Operator;
    const value = drawValue(random, described, plain, this.knownOf(end === undefined ? kind : "host", field.path), at);
    const gap = random.pick([" ", " ", ""]);
    const compared: Ask = { is: "compared", field, holds: value.holds };
    return {
      text: `${name}${gap}${operator}${gap}${value.text}`,
      ask: operator === "!=" ? { is: "not", of: compared } : compared,
    };
  }

  private drawOverTime(kind: AskedKind, at: number): Question {
    const { random } = this;
    const is = random.pick(["changes", "ever", "always", "was"] as const);
    this.count(is);
    const { text: start, from } = drawStart(random, this.instants, this.markers, at);
    const fields = this.ownFields(kind).filter((field) => field.over_time);
    if (is === "changes") {
      const { name } = random.pick(fields.filter((each) => !/\./.test(each.name)));
      const operator = random.pick(["=", "!=", "<", "<=", ">", ">="] as const);
      const count = random.integer(4);
      return {
        text: `changes(${name}, ${start}) ${operator} ${count}`,
        ask: { is, path: [name], from, holds: (changes) => compares(operator, changes, count) },
      };
    }
    const inner = this.drawTree(2, () => this.drawComparison(kind, [], fields, at));
    if (is === "was") return { text: `was(${start}, ${inner.text})`, ask: { is, on: from, of: inner.ask } };
    return { text: `${is}(${inner.text}, ${start})`, ask: { is, from, of: inner.ask } };
  }

  private drawWords(): Question {
    const words = this.random.pick(WORDS);
    this.count("words");
    const text = written(this.random, words);
    return { text: /^["']/.test(text) ? text : `"${words}"`, ask: { is: "words", words } };
  }

  private knownOf(kind: AskedKind, path: readonly string[]): unknown[] {
    const key = `${kind}.${path.join(".")}`;
    const known = this.known.get(key) ?? (this.records.get(kind) ?? []).flatMap((record) => valuesIn(record, path));
    this.known.set(key, known);
    return known;
  }

  private count(what: string): void {
    this.asked.set(what, (this.asked.get(what) ?? 0) + 1);
  }
}

/** Assignments are separate records that no list returns. */
function isOfAssignment(name: string): boolean {
  return /^(credential_assignments|credential_ids|host_assignments|assigned_network_ids)(\.|$)/.test(name);
}

/** Whether it combines with others without parentheses. */
function isAtom({ ask }: Question): boolean {
  return ask.is !== "all" && ask.is !== "any" && !(ask.is === "not");
}

function compares(operator: "=" | "!=" | "<" | "<=" | ">" | ">=", a: number, b: number): boolean {
  return { "=": a === b, "!=": a !== b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b }[operator];
}

/** All search words in a filter. */
export function wordsIn(ask: Ask): string[] {
  switch (ask.is) {
    case "words":
      return [ask.words];
    case "all":
    case "any":
      return ask.of.flatMap(wordsIn);
    case "not":
    case "ever":
    case "always":
    case "was":
      return wordsIn(ask.of);
    default:
      return [];
  }
}

/** Start of the period of each history function in a filter. */
export function startsIn(ask: Ask): number[] {
  switch (ask.is) {
    case "changes":
    case "ever":
    case "always":
      return [ask.from];
    case "was":
      return [ask.on];
    case "all":
    case "any":
      return ask.of.flatMap(startsIn);
    case "not":
      return startsIn(ask.of);
    default:
      return [];
  }
}
