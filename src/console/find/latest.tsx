// Latest transactions, one sentence each, shown on the start page below the summary of the day.

import { read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { Problem } from "../components/problem.tsx";
import { When } from "../components/when.tsx";
import { Sentence } from "../history/sentence.tsx";
import { isPast, network, scopeQuery } from "../time/at.ts";
import { hrefOf } from "../url/location.ts";

const TRANSACTIONS_MAX = 8;
/** Phrases per transaction; the changes page shows more. */
const PHRASES_MAX = 2;

/** @param from start of the day, RFC 3339 */
export function Latest({ from }: { readonly from: string }) {
  const query = {
    ...scopeQuery(),
    from,
    order_direction: "desc",
    include: "highlights",
    limit: TRANSACTIONS_MAX,
  } as const;
  const live = { how: "offer", network_id: network.value } as const;
  const { data, problem, retry } = useResponse(read("/api/v1/transactions", { query }), live);
  if (problem !== undefined && data === undefined) return <Problem problem={problem} retry={retry} />;
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
            <Sentence transaction={transaction} phrases={PHRASES_MAX} />{" "}
            <bdi class="aside">{transaction.reason ?? transaction.actor.name}</bdi>
          </li>
        ))}
      </ol>
      <p>
        <a href={hrefOf("/changes")}>All changes</a> ·{" "}
        <a href={hrefOf("/changes?tab=activity&period=-7d")}>
          {isPast.value
            ? "What was new, removed or unstable in the week before"
            : "What's new, removed or unstable this week"}
        </a>
      </p>
    </section>
  );
}
