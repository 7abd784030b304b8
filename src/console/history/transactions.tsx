// Paged list of transactions, newest first. The URL holds page and cutoff, so that a shared link shows the same lines.

import { type QueryOf, read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { Pager } from "../components/pager.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { at } from "../time/at.ts";
import { formatUtc, parseInstant } from "../time/instant.ts";
import { pageOffset, parameter } from "../url/location.ts";
import { TransactionLine } from "./transaction-line.tsx";

const PAGE_LINES = 50;

export type TransactionsQuery = Omit<QueryOf<"/api/v1/transactions">, "limit" | "offset" | "include" | "to">;

/** Request for a page of transactions. */
export function transactionsRead(filter: TransactionsQuery) {
  const offset = pageOffset.value;
  const until = at.value === null && offset > 0 ? parameter("until") : null;
  return read("/api/v1/transactions", {
    query: {
      ...filter,
      ...(until === null ? {} : { to: until }),
      order_direction: "desc",
      include: "highlights",
      limit: PAGE_LINES,
      ...(offset === 0 ? {} : { offset }),
    },
  });
}

/** @param filter limits the list, such as to a host, a network or a record */
export function Transactions({ filter, hostId }: Readonly<{ filter: TransactionsQuery; hostId?: string | undefined }>) {
  const offset = pageOffset.value;
  const { types, network_id, host_id, id } = filter;
  const live = offset === 0 ? ({ how: "offer", types, network_id, host_id, id } as const) : null;
  const { data, meta, problem, retry } = useResponse(transactionsRead(filter), live);
  if (data === undefined || problem !== undefined) return <ResponseState problem={problem} retry={retry} />;
  const [newest] = data;
  // Fixes the cutoff, so that new transactions do not shift lines between pages.
  const until = offset > 0 || newest === undefined ? parameter("until") : formatUtc((parseInstant(newest.at) ?? 0) + 1);
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
