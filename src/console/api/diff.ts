// Differences from A to B. The API compares the earlier timestamp with the later; if A is later, its response is
// reversed.

import type { ComparedEnds } from "../time/compared.ts";
import { parameter } from "../url/location.ts";
import { type QueryOf, type Read, read } from "./client.ts";
import type { DiffData } from "./diff-data.ts";

/** Filter for differences; `change` as seen from A. */
export type DiffQuery = Omit<QueryOf<"/api/v1/diff">, "from" | "to" | "ignore" | "format">;

/** Fields that record when something was seen, not its state. */
const OBSERVED_FIELDS = ["stale_since"] as const;

/** Whether the URL includes observation-only changes. */
export function includesObserved(): boolean {
  return parameter("observed") !== null;
}

/** Reads the differences from the earlier to the later timestamp, whichever is A; see `fromAToB`. */
export function diffRead({ from, to, isBackwards }: ComparedEnds, { change, ...filters }: DiffQuery): Read<DiffData> {
  const [earlier, later] = isBackwards ? [to, from] : [from, to];
  return read("/api/v1/diff", {
    query: {
      from: earlier ?? "",
      ...(later === null ? {} : { to: later }),
      ...filters,
      ...(change === undefined ? {} : { change: isBackwards ? change.map((kind) => OPPOSITE[kind]) : change }),
      ...(includesObserved() ? {} : { ignore: [...OBSERVED_FIELDS] }),
    },
  });
}

const OPPOSITE = { added: "removed", removed: "added", changed: "changed" } as const;

/** Converts a response to the view from A. */
export function fromAToB(diff: DiffData, { isBackwards }: ComparedEnds): DiffData {
  if (!isBackwards) return diff;
  const { from, to, added, removed, changed, counts } = diff;
  return {
    from: to,
    to: from,
    added: removed,
    removed: added,
    changed: changed.map(({ fields, ...record }) => ({
      ...record,
      fields: fields.map((field) => ({ ...field, from: field.to, to: field.from })),
    })),
    counts: Object.fromEntries(
      Object.entries(counts).map(([type, { added: addedCount, removed: removedCount, changed: changedCount }]) => [
        type,
        {
          ...(removedCount === undefined ? {} : { added: removedCount }),
          ...(addedCount === undefined ? {} : { removed: addedCount }),
          ...(changedCount === undefined ? {} : { changed: changedCount }),
        },
      ]),
    ),
  };
}
