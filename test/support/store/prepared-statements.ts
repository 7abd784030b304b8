// Statements that a connection prepares, and their query plans.

import type { Database } from "bun:sqlite";

/** Runs an action. @returns the statements that the connection prepared in the meantime, and the result */
export function preparedBy<T>(client: Database, action: () => T): { texts: string[]; result: T } {
  const texts: string[] = [];
  const prepare = client.prepare.bind(client);
  client.prepare = ((sql: string) => {
    texts.push(sql);
    return prepare(sql);
  }) as typeof client.prepare;
  try {
    return { result: action(), texts };
  } finally {
    client.prepare = prepare as typeof client.prepare;
  }
}

export function planOf(client: Database, sql: string): string[] {
  return (client.query(`EXPLAIN QUERY PLAN ${sql}`).all() as Array<{ detail: string }>).map(({ detail }) => detail);
}
