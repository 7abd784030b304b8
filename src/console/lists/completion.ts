// Filter completions at the caret: fields, operators, values and functions, from the API's description of a kind's
// fields. Pure. The grammar itself belongs to the API.

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
  /** Inserted text. */
  readonly text: string;
  readonly meaning: string;
  /** Number of characters replaced before the caret. */
  readonly replaces: number;
}

const JOINS = ["AND", "OR"];

/** Completions at a position of a filter, best first. */
export function completionsOf(text: string, caret: number, known: KnownFields): Completion[] {
  const before = text.slice(0, caret);
  const { words, word, isInString } = wordsOf(before);
  if (isInString && word.startsWith('"')) return valuesOf(words, word, known);
  const last = words.at(-1);
  const beforeLast = words.at(-2);
  if (last !== undefined && isOperator(last)) return valuesOf(words, word, known);
  const field = last === undefined ? undefined : known.fields.find(({ name }) => name === last);
  if (field !== undefined && !isOperator(beforeLast ?? "")) return starting(field.operators, word, field.type);
  if (last !== undefined && last !== "(" && last !== "NOT" && last !== "," && !JOINS.includes(last))
    return starting(JOINS, word, "");
  return [
    ...known.fields
      .filter(({ name }) => fits(name, word))
      .map(({ name, type, description }) => ({
        text: `${name} `,
        meaning: description ?? type,
        replaces: word.length,
      })),
    ...known.functions
      .filter(({ name }) => fits(name, word))
      .map(({ name, usage }) => ({ text: `${name}(`, meaning: usage, replaces: word.length })),
    ...starting(["NOT"], word, ""),
  ].sort((a, b) => Number(!a.text.startsWith(word)) - Number(!b.text.startsWith(word)));
}

/** Text with the completion inserted, and the new caret position. */
export function completed(text: string, caret: number, completion: Completion): { text: string; caret: number } {
  const start = caret - completion.replaces;
  const rest = text.slice(caret).replace(/^[\w.]*"?/, "");
  return { text: text.slice(0, start) + completion.text + rest.trimStart(), caret: start + completion.text.length };
}

function valuesOf(words: readonly string[], word: string, known: KnownFields): Completion[] {
  const operator = words.at(-1) ?? "";
  const field = known.fields.find(({ name }) => name === words.at(isOperator(operator) ? -2 : -1));
  const typed = word.replace(/^"/, "");
  return (field?.values ?? [])
    .filter((value) => fits(value, typed))
    .map((value) => ({ text: `"${value}" `, meaning: "", replaces: word.length }));
}

function starting(all: readonly string[], word: string, meaning: string): Completion[] {
  return all.filter((each) => fits(each, word)).map((each) => ({ text: `${each} `, meaning, replaces: word.length }));
}

/** Matches the beginning of a name or of one of its parts: `status` finds `oper_status`. */
function fits(name: string, typed: string): boolean {
  const wanted = typed.toLowerCase();
  const lower = name.toLowerCase();
  return lower !== wanted && (lower.startsWith(wanted) || lower.includes(`_${wanted}`) || lower.includes(`.${wanted}`));
}

function isOperator(word: string): boolean {
  return /^(?:!=|<=|>=|[=<>:])$/.test(word);
}

/** Words before the current one, and the current one. Operators and brackets are separate words. */
function wordsOf(before: string): { words: string[]; word: string; isInString: boolean } {
  const words = before.match(/"(?:[^"\\]|\\.)*"?|!=|<=|>=|[=<>:(),]|[^\s"=<>:!(),]+/g) ?? [];
  const last = words.at(-1) ?? "";
  const isInString = last.startsWith('"') && !/[^\\]"$/.test(last);
  const isTyping = isInString || (/[^\s"=<>:!(),]$/.test(before) && last !== "");
  return isTyping ? { words: words.slice(0, -1), word: last, isInString } : { words, word: "", isInString };
}
