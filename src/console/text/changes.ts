// Texts for changes: actor, reason, and differences per field.

import { capital, kindWords } from "../kinds/kinds.ts";
import { counted, groupedDigits } from "./digits.ts";
import { ownValue } from "./own-value.ts";

const OPERATIONS: Readonly<Record<string, string>> = { Created: "added", Updated: "changed", Deleted: "removed" };

export const changesText = {
  added: "Added",
  removed: "Removed",
  actors: { User: "person", ApiKey: "API key", Discovery: "discovery", System: "netledger itself" } as Readonly<
    Record<string, string>
  >,
  transaction: (sequence: number) => `Transaction ${sequence}`,
  /** `3 hosts added, 1 interface changed`. */
  counts: (changes: Readonly<Record<string, Readonly<Record<string, number>>>>) =>
    Object.entries(changes)
      .flatMap(([type, operations]) =>
        Object.entries(operations).map(([operation, count]) => {
          const [one, many] = kindWords(type);
          return `${counted(count, one, many)} ${ownValue(OPERATIONS, operation) ?? operation}`;
        }),
      )
      .join(", "),
  /** For several transactions: `1 host added, 4 host changes`, possibly all of the same host. */
  day: (type: string, { created, updated, deleted }: Readonly<Record<"created" | "updated" | "deleted", number>>) => {
    const [one, many] = kindWords(type);
    return [
      created > 0 && `${counted(created, one, many)} added`,
      updated > 0 && `${groupedDigits(updated)} ${one} ${updated === 1 ? "change" : "changes"}`,
      deleted > 0 && `${counted(deleted, one, many)} removed`,
    ]
      .filter(Boolean)
      .join(", ");
  },
  showMore: (count: number, left: number) =>
    count === left
      ? `Show ${groupedDigits(count)} more`
      : `Show ${groupedDigits(count)} more of ${groupedDigits(left)}`,
  gone: (kind: string) => `This ${kind} is gone`,
  notYet: (kind: string) => `This ${kind} did not exist yet`,
  unknown: (kind: string) => `${capital(kind)} not found, or you don't have access to it.`,
} as const;
