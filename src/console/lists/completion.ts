// Filter completions at the caret: fields, operators, values and functions, as the API describes them for a kind. Pure.
// Only the API parses the grammar completely.

/** Response of `GET /api/v1/fields/{kind}`. */
export interface KnownFields {
  readonly fields: readonly KnownField[];
  readonly functions: readonly { readonly name: string; readonly usage: string }[];
}

interface KnownField {
  readonly name: string;
  readonly type: string;
  readonly operators: readonly string[];
  readonly values: readonly string[] | null;
  readonly description: string | null;
}

export interface Completion {
  /** Text to insert. */
  readonly text: string;
  readonly meaning: string;
  /** Number of characters before the caret to replace. */
  readonly replaces: number;
}

const CONJUNCTIONS = ["AND", "OR"];

/** Completions at a position of a filter, best first. */
export function completionsOf(text: string, caret: number, known: KnownFields): Completion[] {
  const before = text.slice(0, caret);
  const { words, word, isInString } = wordsOf(before);
  const last = words.at(-1);
  if ((isInString && word.startsWith('"')) || isOperator(last ?? "")) return valuesOf(words, word, known);
  const field = last === undefined ? undefined : known.fields.find(({ name }) => name === last);
  if (field !== undefined && !isOperator(words.at(-2) ?? "")) return completionsFrom(field.operators, word, field.type);
  if (last !== undefined && !["(", "NOT", ",", ...CONJUNCTIONS].includes(last))
    return completionsFrom(CONJUNCTIONS, word, "");
  const replaces = word.length;
  return [
    ...known.fields
      .filter(({ name }) => matches(name, word))
      .map(({ name, type, description }) => ({ text: `${name} `, meaning: description ?? type, replaces })),
    ...known.functions
      .filter(({ name }) => matches(name, word))
      .map(({ name, usage }) => ({ text: `${name}(`, meaning: usage, replaces })),
    ...completionsFrom(["NOT"], word, ""),
  ].sort((a, b) => Number(!a.text.startsWith(word)) - Number(!b.text.startsWith(word)));
}

/** Text with the completion inserted, and the new caret position. */
export function applyCompletion(text: string, caret: number, completion: Completion): { text: string; caret: number } {
  const start = caret - completion.replaces;
  const rest = text.slice(caret).replace(/^[\w.]*"?/, "");
  return { text: text.slice(0, start) + completion.text + rest.trimStart(), caret: start + completion.text.length };
}

function valuesOf(words: readonly string[], word: string, known: KnownFields): Completion[] {
  const operator = words.at(-1) ?? "";
  const field = known.fields.find(({ name }) => name === words.at(isOperator(operator) ? -2 : -1));
  const typed = word.replace(/^"/, "");
  return (field?.values ?? [])
    .filter((value) => matches(value, typed))
    .map((value) => ({ text: `"${value}" `, meaning: "", replaces: word.length }));
}

function completionsFrom(all: readonly string[], word: string, meaning: string): Completion[] {
  return all
    .filter((name) => matches(name, word))
    .map((name) => ({ text: `${name} `, meaning, replaces: word.length }));
}

/** Whether a name, or one of its parts, starts with the typed text: `status` finds `oper_status`. */
function matches(name: string, typed: string): boolean {
  const prefix = typed.toLowerCase();
  const lower = name.toLowerCase();
  return lower !== prefix && (lower.startsWith(prefix) || lower.includes(`_${prefix}`) || lower.includes(`.${prefix}`));
}

function isOperator(word: string): boolean {
  return /^(?:!=|<=|>=|[=<>:])$/.test(word);
}

/** The word before the caret and the words before it. Operators and brackets are separate words. */
function wordsOf(before: string): { words: string[]; word: string; isInString: boolean } {
  const words = before.match(/"(?:[^"\\]|\\.)*"?|!=|<=|>=|[=<>:(),]|[^\s"=<>:!(),]+/g) ?? [];
  const last = words.at(-1) ?? "";
  const isInString = last.startsWith('"') && !/[^\\]"$/.test(last);
  const isTyping = isInString || (/[^\s"=<>:!(),]$/.test(before) && last !== "");
  return isTyping ? { words: words.slice(0, -1), word: last, isInString } : { words, word: "", isInString };
}
