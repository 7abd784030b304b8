// Latest transactions, a sentence each, shown on the start page below the summary of the day.

import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { Sentence } from "../changes/sentence.tsx";
import { Problem } from "../parts/problem.tsx";
import { When } from "../parts/when.tsx";
import { isPast, network, scopeQuery } from "../time/at.ts";
import { hrefOf } from "../url/location.ts";

const LATEST = 8;
/** Phrases per transaction; the changes page shows more. */
const PHRASES = 2;

/** @param from start of the day, RFC 3339 */
export function Latest({ from }: { readonly from: string }) {
  const query = { ...scopeQuery(), from, order_direction: "desc", include: "highlights", limit: LATEST } as const;
  const { data, problem, again } = useAnswer(read("/api/v1/transactions", { query }), {
    how: "offer",
    network_id: network.value,
  });
  if (problem !== undefined && data === undefined) return <Problem problem={problem} again={again} />;
  if (data === undefined || data.length === 0) return null;
  return (
    <section class="start-latest">
      <h3>Latest changes</h3>
      <ol class="latest">
        {data.map((transaction) => (
          <li key={transaction.sequence}>
            <a href={hrefOf(`/changes/${transaction.sequence}`)}>
              <When instant={transaction.at} as="age" />
            </a>{" "}
            <Sentence transaction={transaction} phrases={PHRASES} />{" "}
            <bdi class="aside">{transaction.reason ?? transaction.actor.name}</bdi>
          </li>
        ))}
      </ol>
      <p>
        <a href={hrefOf("/changes")}>All changes</a> ·{" "}
        <a href={hrefOf("/changes?tab=activity&period=-7d")}>
          {isPast.value
            ? "What was new, gone, or unstable in the week before"
            : "What's new, gone, or unstable this week"}
        </a>
      </p>
    </section>
  );
}
