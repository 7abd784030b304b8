// Implementation of GET /api/v1/activity: number of changes over time, by type, record, field, actor or network.

import { formatInstant } from "../../base/instant.ts";
import { longRead, pausing } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { metaAt, successBody, thinnedUntilMember } from "../../schemas/envelope.ts";
import { GROUPERS } from "./groupings.ts";
import { type ActivityInput, MatchingChanges } from "./matching-changes.ts";
import type { Tally } from "./tally.ts";

/** Yields the response as an envelope. */
export const activity = longRead("activity", function* (reader: Reader, input: ActivityInput) {
  const matching = new MatchingChanges(reader, input);
  const from = input.from ?? (yield* pausing(matching.first())) ?? input.to;
  const { all, groups, count } = yield* pausing(GROUPERS[input.groupBy](matching, from));
  const head = `"group_by":"${input.groupBy}","from":"${formatInstant(from)}","to":"${formatInstant(input.to)}"`;
  const texts = groups.map(({ members, tally }) => `{${members},${countMembers(tally)}}`);
  yield new TextEncoder().encode(
    successBody(
      `{${head},${countMembers(all)},"group_count":${count},"groups":[${texts.join(",")}]}`,
      metaAt(null, thinnedUntilMember(reader.thinnedHistory.incompleteUntil(input.after))),
    ),
  );
});

function countMembers({ created, updated, deleted, total }: Tally): string {
  return `"created":${created},"updated":${updated},"deleted":${deleted},"total":${total}`;
}
