// Conditions of a filter, as text in the grammar of the API. Plain functions.

/** A condition beside what is filtered already. Mixed with OR, the whole stands in parentheses. */
export function withCondition(filter: string, condition: string): string {
  const last = filter.trim();
  if (last === "") return condition;
  return `${/\bOR\b/.test(withoutStrings(last)) ? `(${last})` : last} AND ${condition}`;
}

function withoutStrings(filter: string): string {
  return filter.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
}
