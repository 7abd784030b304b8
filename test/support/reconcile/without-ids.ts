// Records without ids and timestamps: equal for inventories that differ in nothing else. An id is replaced by a digest of
// the record that it identifies.

import type { JsonRecord } from "../appliance/factories.ts";

/** Records that refer to each other over more steps than this count as equal if all their other fields are. */
const ROUNDS = 4;
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIMESTAMP = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;

/**
 * One list of texts per round, each sorted: first without ids, then with the digests of the round before.
 * @param records by list
 */
export function withoutIds(records: Readonly<Record<string, readonly JsonRecord[]>>): string[][] {
  const texts = Object.entries(records).flatMap(([list, all]) =>
    all.map(({ id, fingerprint: _ofIds, ...fields }) => ({
      id: `${id}`,
      text: `${list} ${JSON.stringify(fields, sortedParties)}`.replaceAll(TIMESTAMP, ""),
    })),
  );
  const rounds: string[][] = [];
  for (let labels = new Map<string, string>(); rounds.length < ROUNDS; ) {
    const labelled = texts.map(({ text }) => text.replaceAll(ID, (id) => labels.get(id) ?? ""));
    labels = new Map(texts.map(({ id }, index) => [id, Bun.hash(labelled[index] as string).toString(36)]));
    rounds.push(labelled.toSorted());
  }
  return rounds;
}

/** The parties of a conflict are in the order of their records. */
function sortedParties(field: string, value: unknown): unknown {
  const textOf = (party: unknown) => JSON.stringify(party).replaceAll(ID, "").replaceAll(TIMESTAMP, "");
  return field === "parties" ? (value as unknown[]).toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1)) : value;
}

/** Records of one side only, in the first round in which any differ: `-` those of the first side. */
export function differences(some: readonly string[][], others: readonly string[][]): string[] {
  for (const [round, texts] of some.entries()) {
    const other = others[round] ?? [];
    const differing = [
      ...without(texts, other).map((text) => `- ${text}`),
      ...without(other, texts).map((text) => `+ ${text}`),
    ];
    if (differing.length > 0) return differing;
  }
  return [];
}

function without(some: readonly string[], others: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const text of others) counts.set(text, (counts.get(text) ?? 0) + 1);
  return some.filter((text) => {
    const count = counts.get(text) ?? 0;
    counts.set(text, count - 1);
    return count <= 0;
  });
}
