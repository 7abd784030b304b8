// What differs between the two instants that are compared, from A to B. The API tells it from the earlier to the later
// one: where A is the later, what came is what went, and a field's old value its new one.

import type { ComparedEnds } from "../time/compared.ts";
import { parameter } from "../url/location.ts";
import { type QueryOf, type Read, read } from "./client.ts";
import type { DiffData } from "./diff-data.ts";

/** Which differences; `change` as seen from A. */
export type DiffQuery = Omit<QueryOf<"/api/v1/diff">, "from" | "to" | "ignore" | "format">;

/** They say when something was seen, not what it is. */
const OBSERVED_FIELDS = ["stale_since"] as const;

/** Whether the address asks for what was only observed as well. */
export function isObservedTold(): boolean {
  return parameter("observed") !== null;
}

/** The read of what differs, from the earlier of the two to the later, whichever is A: see `fromAToB`. */
export function diffRead({ from, to, isBackwards }: ComparedEnds, { change, ...of }: DiffQuery): Read<DiffData> {
  const [earlier, later] = isBackwards ? [to, from] : [from, to];
  return read("/api/v1/diff", {
    query: {
      from: earlier ?? "",
      ...(later === null ? {} : { to: later }),
      ...of,
      ...(change === undefined ? {} : { change: isBackwards ? change.map((each) => OPPOSITE[each]) : change }),
      ...(isObservedTold() ? {} : { ignore: [...OBSERVED_FIELDS] }),
    },
  });
}

const OPPOSITE = { added: "removed", removed: "added", changed: "changed" } as const;

/** What was answered, as seen from A. */
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
      Object.entries(counts).map(([type, { added: came, removed: went, changed: other }]) => [
        type,
        {
          ...(went === undefined ? {} : { added: went }),
          ...(came === undefined ? {} : { removed: came }),
          ...(other === undefined ? {} : { changed: other }),
        },
      ]),
    ),
  };
}
