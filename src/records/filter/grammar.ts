// Filter grammar: parses text into a tree with positions (AIP-160). Function arguments may be comparisons, and mixing
// AND and OR requires parentheses. Independent of fields and values.

import { ownValue } from "../../base/fields.ts";
import { FILTER_MAX_DEPTH, FILTER_MAX_TERMS } from "../../base/filter-limits.ts";

export const COMPARATORS = ["=", "!=", "<", "<=", ">", ">=", ":"] as const;
export type Comparator = (typeof COMPARATORS)[number];

/** Offset of the first character in the filter, from 0, in UTF-16 units. */
interface Positioned {
  readonly position: number;
}

/** A value as written. */
export interface Literal extends Positioned {
  /** Without quotes; escapes are preserved (`\"`, `\\`, `\*`). */
  readonly raw: string;
  readonly isQuoted: boolean;
}

/** `host.name`, segment by segment. */
export interface Member extends Positioned {
  readonly segments: readonly string[];
}

export interface FunctionCall extends Positioned {
  readonly name: string;
  readonly args: readonly Node[];
}

export type Node =
  | (Positioned & { readonly type: "and" | "or"; readonly parts: readonly Node[] })
  | (Positioned & { readonly type: "not"; readonly part: Node })
  | (Positioned & {
      readonly type: "comparison";
      readonly member: Member;
      readonly by: Comparator;
      readonly value: Literal;
    })
  | (Positioned & {
      readonly type: "call";
      readonly call: FunctionCall;
      readonly by: Comparator | null;
      readonly value: Literal | null;
    })
  | (Positioned & { readonly type: "literal"; readonly literal: Literal });

/** A problem with a filter, and its position. */
export class FilterProblem extends Error {
  readonly position: number;

  /** @param message continues a sentence that starts with the field: `must …`, `has …` */
  constructor(position: number, message: string) {
    super(message);
    this.position = position;
  }
}

/**
 * Parses a filter.
 * @returns null for an empty filter
 * @throws FilterProblem for the first syntax error
 */
export function parseFilter(text: string): Node | null {
  const parser = new Parser(text);
  return parser.filter();
}

/** Text of a literal with escapes resolved. */
export function plainText({ raw }: Literal): string {
  return raw.replace(ESCAPE, "$1");
}

/** Parts of a literal between its wildcards; a single part without wildcards. */
export function betweenWildcards({ raw }: Literal): string[] {
  const parts: string[] = [];
  let part = "";
  for (const [piece] of raw.matchAll(PIECE)) {
    if (piece === "*") {
      parts.push(part);
      part = "";
    } else part += piece.replace(ESCAPE, "$1");
  }
  return [...parts, part];
}

/** Shortens a filter part for messages, without splitting a character. */
export function excerpt(text: string): string {
  return text.length > EXCERPT_LENGTH ? `${text.slice(0, EXCERPT_LENGTH).replace(/[\ud800-\udbff]$/, "")}…` : text;
}

const EXCERPT_LENGTH = 40;

const ESCAPE = /\\(.)/gsu;
const PIECE = /\\.|\*|[^\\*]+|\\$/gsu;

/** An unquoted word that is not a value: ends at white space, parenthesis, comma, quote or comparator. */
const WORD = /[^\s()",'=<>!:]+/uy;
/** An unquoted value after a comparator, which may contain comparators: a MAC address, an IPv6 prefix, a timestamp. */
const VALUE = /[^\s()",']+/uy;
const COMPARATOR = /!=|<=|>=|[=<>:]/y;
const SPACE = /\s*/uy;
const QUOTED = /"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'/suy;
/** Comparators and AND of other languages: not search words, unless quoted. */
const PUNCTUATION = /^[!-/:-@[-`{-~]+$/;
const NO_VALUE = /^[=<>!~]/;
const AFTER_QUOTE = /[\p{L}\p{N}_"'*]/uy;
const KEYWORDS = new Set(["AND", "OR", "NOT"]);

class Parser {
  private readonly text: string;
  private offset = 0;
  private depth = 0;
  private terms = 0;

  constructor(text: string) {
    this.text = text;
  }

  filter(): Node | null {
    this.skip();
    if (this.isAtEnd()) return null;
    const node = this.expression();
    if (!this.isAtEnd()) throw this.problem(this.peek() === ")" ? "has an unmatched )" : this.unexpected());
    return node;
  }

  /** Terms joined by AND, by white space (which means AND), or by OR. */
  private expression(): Node {
    const position = this.offset;
    const parts = [this.term()];
    let joined: "and" | "or" | null = null;
    for (;;) {
      this.skip();
      if (this.isAtEnd() || this.peek() === ")" || this.peek() === ",") break;
      const start = this.offset;
      const keyword = this.keyword();
      if (keyword === "NOT") this.offset = start;
      const by = keyword === "OR" ? "or" : "and";
      if (joined !== null && joined !== by)
        throw new FilterProblem(start, "must not mix AND and OR without parentheses: write a AND (b OR c)");
      joined = by;
      parts.push(this.term());
    }
    return parts.length === 1 ? (parts[0] as Node) : { type: joined ?? "and", position, parts };
  }

  private term(): Node {
    this.skip();
    const position = this.offset;
    if (this.keyword() === "NOT") return this.negated(position);
    this.offset = position;
    if (this.peek() === "-" && /[\p{L}_"'(]/u.test(this.text.slice(position + 1, position + 2))) {
      this.offset += 1;
      return this.negated(position);
    }
    return this.simple();
  }

  private negated(position: number): Node {
    return { type: "not", position, part: this.nested(() => this.term()) };
  }

  private simple(): Node {
    this.skip();
    const position = this.offset;
    if (this.peek() === "(") {
      this.offset += 1;
      const node = this.nested(() => this.expression());
      this.close(position);
      return node;
    }
    this.count(position);
    const quoted = this.quoted();
    if (quoted !== null) return { type: "literal", position, literal: quoted };
    const word = this.match(WORD);
    if (word === null) throw this.problem(this.unexpected());
    if (KEYWORDS.has(word)) throw new FilterProblem(position, `must have a term before and after ${word}`);
    this.endWord();
    if (PUNCTUATION.test(word)) throw new FilterProblem(position, punctuationProblem(word));
    if (/^(?:and|or|not)$/.test(word))
      throw new FilterProblem(
        position,
        `must write ${word.toUpperCase()} in capitals; quote the word to search for it`,
      );
    if (this.peek() === "(") return this.restricted({ position, name: word, args: this.args() });
    this.skip();
    const by = this.comparator();
    if (by === null) return { type: "literal", position, literal: { position, raw: word, isQuoted: false } };
    return { type: "comparison", position, member: { position, segments: word.split(".") }, by, value: this.value(by) };
  }

  /** A function call with its comparison. */
  private restricted(call: FunctionCall): Node {
    this.skip();
    const by = this.comparator();
    return { type: "call", position: call.position, call, by, value: by === null ? null : this.value(by) };
  }

  private args(): Node[] {
    const opened = this.offset;
    this.offset += 1;
    const args: Node[] = [];
    this.skip();
    if (this.peek() !== ")") {
      for (;;) {
        args.push(this.nested(() => this.argument()));
        this.skip();
        if (this.peek() !== ",") break;
        this.offset += 1;
      }
    }
    this.close(opened);
    return args;
  }

  /** A comparison, or a value that a bare word cannot hold: an age such as -7d, a timestamp. */
  private argument(): Node {
    this.skip();
    const position = this.offset;
    const value = this.match(BARE_INSTANT);
    if (value !== null) return { type: "literal", position, literal: { position, raw: value, isQuoted: false } };
    return this.expression();
  }

  private value(by: Comparator): Literal {
    this.skip();
    const quoted = this.quoted();
    if (quoted !== null) return quoted;
    const position = this.offset;
    const raw = this.match(VALUE);
    if (raw === null || KEYWORDS.has(raw)) throw new FilterProblem(position, `must have a value after ${by}`);
    if (this.peek() === "(")
      throw new FilterProblem(position, `must compare with a value, but ${excerpt(raw)}(…) is a function`);
    this.endWord();
    if (NO_VALUE.test(raw))
      throw new FilterProblem(position, `must have a value after ${by}; quote one that begins with ${raw.charAt(0)}`);
    return { position, raw, isQuoted: false };
  }

  private quoted(): Literal | null {
    const position = this.offset;
    const quote = this.peek();
    if (quote !== '"' && quote !== "'") return null;
    QUOTED.lastIndex = position;
    const match = QUOTED.exec(this.text);
    if (match === null) throw new FilterProblem(position, `has an unclosed ${quote}`);
    this.offset = QUOTED.lastIndex;
    AFTER_QUOTE.lastIndex = this.offset;
    if (AFTER_QUOTE.test(this.text))
      throw this.problem(`must have white space after a closing ${quote}; write \\${quote} for one within quotes`);
    return { position, raw: match[1] ?? match[2] ?? "", isQuoted: true };
  }

  /** A quote directly after a word would form two words. */
  private endWord(): void {
    if (/["']/.test(this.peek())) throw this.problem("must quote all of a word, or have white space before a quote");
  }

  private comparator(): Comparator | null {
    return this.match(COMPARATOR) as Comparator | null;
  }

  /** Consumes AND, OR or NOT as a separate word, and nothing else. */
  private keyword(): string | null {
    const start = this.offset;
    const word = this.match(WORD);
    if (word !== null && KEYWORDS.has(word)) return word;
    this.offset = start;
    return null;
  }

  private close(opened: number): void {
    this.skip();
    if (this.peek() !== ")")
      throw this.isAtEnd() ? new FilterProblem(opened, "has an unclosed (") : this.problem(this.unexpected());
    this.offset += 1;
  }

  private nested(read: () => Node): Node {
    this.depth += 1;
    this.skip();
    if (this.depth > FILTER_MAX_DEPTH) throw this.problem(`must not be nested more than ${FILTER_MAX_DEPTH} deep`);
    const node = read();
    this.depth -= 1;
    return node;
  }

  private count(position: number): void {
    this.terms += 1;
    if (this.terms > FILTER_MAX_TERMS)
      throw new FilterProblem(position, `must have at most ${FILTER_MAX_TERMS} comparisons`);
  }

  private match(pattern: RegExp): string | null {
    pattern.lastIndex = this.offset;
    const match = pattern.exec(this.text);
    if (match === null) return null;
    this.offset = pattern.lastIndex;
    return match[0];
  }

  private skip(): void {
    this.match(SPACE);
  }

  private peek(): string {
    return this.text.charAt(this.offset);
  }

  private isAtEnd(): boolean {
    return this.offset >= this.text.length;
  }

  private unexpected(): string {
    return this.isAtEnd() ? "must not end here" : `has a ${this.peek()} where a comparison was expected`;
  }

  private problem(message: string): FilterProblem {
    return new FilterProblem(this.offset, message);
  }
}

function punctuationProblem(word: string): string {
  const keyword = ownValue(
    { "&": "AND", "&&": "AND", "|": "OR", "||": "OR", "-": "NOT, or - right before a term" },
    word,
  );
  return keyword === undefined
    ? `has ${excerpt(word)} where a comparison was expected; quote it to search for it`
    : `must write ${keyword}; quote ${word} to search for it`;
}

/** Unquoted function argument: an age, a date or date-time, a marker. */
const BARE_INSTANT = /(?:-\d+[smhdw]|\d{4}-\d\d-\d\d[^\s(),"']*|marker:[^\s(),"']+)(?=\s*[,)])/uy;
