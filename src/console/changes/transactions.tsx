// Paged transaction list, newest first, a sentence each. The address holds the page and the cutoff instant, so that a
// shared link shows the same page.

import { useAnswer } from "../api/answer.ts";
import { type QueryOf, read } from "../api/client.ts";
import type { Live } from "../api/fresh.ts";
import { Pager } from "../parts/pager.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { at } from "../time/at.ts";
import { formatUtc, parseInstant } from "../time/instant.ts";
import { pageOffset, parameter } from "../url/location.ts";
import { TransactionLine } from "./transaction-line.tsx";

const PAGE_LINES = 50;

export type TransactionsQuery = Omit<QueryOf<"/api/v1/transactions">, "limit" | "offset" | "include" | "to">;

interface TransactionsProps {
  /** Filter: host, network, record or actor. */
  readonly of: TransactionsQuery;
  readonly hostId?: string | undefined;
}

/** Read of the list. */
export function transactionsRead(of: TransactionsQuery) {
  const offset = pageOffset.value;
  const until = at.value === null && offset > 0 ? parameter("until") : null;
  return read("/api/v1/transactions", {
    query: {
      ...of,
      ...(until === null ? {} : { to: until }),
      order_direction: "desc",
      include: "highlights",
      limit: PAGE_LINES,
      ...(offset === 0 ? {} : { offset }),
    },
  });
}

export function Transactions({ of, hostId }: TransactionsProps) {
  const offset = pageOffset.value;
  const { data, meta, problem, again } = useAnswer(transactionsRead(of), offset === 0 ? liveOf(of) : null);
  if (problem !== undefined) return <Problem problem={problem} again={again} />;
  if (data === undefined) return <Waiting />;
  const [newest] = data;
  // Fixes the cutoff, so that new transactions do not shift lines between pages.
  const until = offset > 0 || newest === undefined ? parameter("until") : justAfter(newest.at);
  return (
    <>
      {data.length === 0 && <p class="aside">Nothing changed.</p>}
      <ol class="transactions">
        {data.map((transaction) => (
          <TransactionLine key={transaction.sequence} transaction={transaction} hostId={hostId} />
        ))}
      </ol>
      <Pager
        offset={offset}
        rows={PAGE_LINES}
        hasMore={meta?.pagination.has_more === true}
        total={meta?.pagination.total_count}
        newer="Newer"
        older="Older"
        until={at.value === null ? until : null}
      />
    </>
  );
}

function liveOf({ types, network_id, host_id, id }: TransactionsQuery): Live {
  return { how: "offer", types, network_id, host_id, id };
}

function justAfter(instant: string): string {
  return formatUtc((parseInstant(instant) ?? 0) + 1);
}
