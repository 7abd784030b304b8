// Filter conditions as text in the API's grammar. Pure.

/** Adds a condition with AND. A filter that contains OR is put in parentheses. */
export function withCondition(filter: string, condition: string): string {
  const last = filter.trim();
  if (last === "") return condition;
  return `${/\bOR\b/.test(withoutStrings(last)) ? `(${last})` : last} AND ${condition}`;
}

function withoutStrings(filter: string): string {
  return filter.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
}
