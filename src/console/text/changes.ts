// Texts for changes: actor, reason, and differences per field.

import { capital, kindWords } from "../kinds/kinds.ts";
import { groupedDigits } from "./digits.ts";
import { ownValue } from "./own-value.ts";

const counted = (count: number, word: string) => `${groupedDigits(count)} ${word}`;

const OPERATIONS: Readonly<Record<string, string>> = { Created: "added", Updated: "changed", Deleted: "removed" };

export const changesText = {
  added: "Added",
  removed: "Removed",
  changed: "Changed",
  same: "Same",
  asItWas: "back to its old value",
  nothing: "Nothing changed.",
  noValue: "none",
  otherOrder: "in another order",
  by: "by",
  of: "of",
  because: "because",
  noReason: "no reason given",
  actors: { User: "person", ApiKey: "API key", Discovery: "discovery", System: "netledger itself" } as Readonly<
    Record<string, string>
  >,
  transaction: (sequence: number) => `Transaction ${sequence}`,
  showThen: "Show it then",
  /** `3 hosts added, 1 interface changed`. */
  counts: (changes: Readonly<Record<string, Readonly<Record<string, number>>>>) =>
    Object.entries(changes)
      .flatMap(([type, operations]) =>
        Object.entries(operations).map(([operation, count]) => {
          const [one, many] = kindWords(type);
          return `${counted(count, count === 1 ? one : many)} ${ownValue(OPERATIONS, operation) ?? operation}`;
        }),
      )
      .join(", "),
  /** For several transactions: `1 host added, 4 host changes`, possibly all of the same host. */
  day: (type: string, { created, updated, deleted }: Readonly<Record<"created" | "updated" | "deleted", number>>) => {
    const [one, many] = kindWords(type);
    return [
      created > 0 && `${counted(created, created === 1 ? one : many)} added`,
      updated > 0 && `${counted(updated, one)} ${updated === 1 ? "change" : "changes"}`,
      deleted > 0 && `${counted(deleted, deleted === 1 ? one : many)} removed`,
    ]
      .filter(Boolean)
      .join(", ");
  },
  moreChanges: (count: number) => `${counted(count, "more")}: open the transaction to see all.`,
  showMore: (count: number, left: number) =>
    count === left ? `Show ${counted(count, "more")}` : `Show ${counted(count, "more")} of ${groupedDigits(left)}`,
  feed: "Feed",
  activity: "Activity",
  views: "Changes",
  kinds: "Kinds",
  allKinds: "All kinds",
  actor: "Who",
  everybody: "Everybody",
  reasonContains: "Reason contains",
  filter: "Filter",
  filterExample: 'Filter, such as command : "host" AND reason:*',
  apply: "Apply",
  clear: "Clear",
  isOver: "Transaction not found, or you don't have access to its changes.",
  all: "All changes",
  previous: "View before",
  next: "View after",
  request: "Request",
  command: "Command",
  reason: "Reason",
  when: "When",
  who: "Who",
  compareAround: "Compare before and after",
  since: "since",
  from: "From",
  to: "To",
  days: { "-24h": "Last day", "-7d": "Last week", "-30d": "Last month" } as Readonly<Record<string, string>>,
  most: {
    flapping: "Flapping ports",
    wandering: "Moving MAC addresses",
    created: "New",
    deleted: "Gone",
    actors: "Most active",
    records: "Most changed",
  },
  times: (count: number) => counted(count, count === 1 ? "change" : "changes"),
  noneOf: "None.",
  compareTitle: "Compare",
  compareHint: "Compare now with:",
  yesterday: "24 hours ago",
  aWeekAgo: "7 days ago",
  total: (counts: Readonly<Record<string, Readonly<Record<string, number>>>>) =>
    Object.entries(counts)
      .map(([type, sides]) => {
        const sum = Object.values(sides).reduce((a, b) => a + b, 0);
        const [one, many] = kindWords(type);
        return counted(sum, sum === 1 ? one : many);
      })
      .join(", "),
  gone: (kind: string) => `This ${kind} is gone`,
  goneAt: "It was removed",
  wentInto: "It went into",
  areOne: "The two are one host, and its history is listed there.",
  showLast: "Show it as it was last",
  notYet: (kind: string) => `This ${kind} did not exist yet`,
  beganAt: "Its first version is of",
  showFirst: "Show it then",
  unknown: (kind: string) => `${capital(kind)} not found, or you don't have access to it.`,
  older: "Older",
  newer: "Newer",
} as const;
