// Filter conditions as text in the API's filter grammar. Pure.

/** Adds a condition with AND. A filter that contains OR is put in parentheses. */
export function withCondition(filter: string, condition: string): string {
  const current = filter.trim();
  if (current === "") return condition;
  return `${/\bOR\b/.test(withoutStrings(current)) ? `(${current})` : current} AND ${condition}`;
}

function withoutStrings(filter: string): string {
  return filter.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
}
