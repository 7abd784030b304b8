// UI strings for changes: actors, counts, and records that do not exist.

import { capital, kindWords } from "../kinds/kinds.ts";
import { counted, groupedDigits } from "./digits.ts";
import { ownValue } from "./own-value.ts";

type WordsByName = Readonly<Record<string, string>>;

const OPERATIONS: WordsByName = { Created: "added", Updated: "changed", Deleted: "removed" };

export const changesText = {
  actors: { User: "user", ApiKey: "API key", Discovery: "discovery", System: "netledger" } as WordsByName,
  transaction: (sequence: number) => `Transaction ${sequence}`,
  /** `3 hosts added, 1 interface changed`. */
  counts: (changes: Readonly<Record<string, Readonly<Record<string, number>>>>) =>
    Object.entries(changes)
      .flatMap(([type, operations]) =>
        Object.entries(operations).map(([operation, count]) => {
          const [singular, plural] = kindWords(type);
          return `${counted(count, singular, plural)} ${ownValue(OPERATIONS, operation) ?? operation}`;
        }),
      )
      .join(", "),
  /** For several transactions: `1 host added, 4 host changes`, possibly all to the same host. */
  day: (type: string, { created, updated, deleted }: Readonly<Record<"created" | "updated" | "deleted", number>>) => {
    const [singular, plural] = kindWords(type);
    return [
      created > 0 && `${counted(created, singular, plural)} added`,
      updated > 0 && `${groupedDigits(updated)} ${singular} ${updated === 1 ? "change" : "changes"}`,
      deleted > 0 && `${counted(deleted, singular, plural)} removed`,
    ]
      .filter(Boolean)
      .join(", ");
  },
  showMore: (count: number, remaining: number) =>
    count === remaining
      ? `Show ${groupedDigits(count)} more`
      : `Show ${groupedDigits(count)} more of ${groupedDigits(remaining)}`,
  gone: (kind: string) => `This ${kind} no longer exists`,
  notYet: (kind: string) => `This ${kind} did not exist yet`,
  unknown: (kind: string) => `${capital(kind)} not found, or you don't have access to it.`,
} as const;
