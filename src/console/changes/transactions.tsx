// The transactions of something, the newest first, page by page.

import { useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { type QueryOf, read } from "../api/client.ts";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { changesText } from "../text/changes.ts";
import { TransactionLine } from "./transaction-line.tsx";

const PAGE_LINES = 50;

interface TransactionsProps {
  /** What of: a host, a network, a record, an actor. */
  readonly of: Omit<QueryOf<"/api/v1/transactions">, "limit" | "offset">;
  readonly hostId?: string | undefined;
}

export function Transactions({ of, hostId }: TransactionsProps) {
  const [offset, setOffset] = useState(0);
  const asked = read("/api/v1/transactions", { query: { ...of, order_direction: "desc", limit: PAGE_LINES, offset } });
  const { data, meta, problem, again } = useAnswer(asked);
  if (problem !== undefined) return <Problem problem={problem} again={again} />;
  if (data === undefined) return <Waiting />;
  if (data.length === 0) return <p class="aside">{changesText.nothing}</p>;
  return (
    <>
      <ol class="transactions">
        {data.map((transaction) => (
          <TransactionLine
            key={transaction.sequence}
            transaction={transaction}
            {...(hostId === undefined ? {} : { hostId })}
          />
        ))}
      </ol>
      <p class="aside">
        {offset > 0 && (
          <button type="button" onClick={() => setOffset(Math.max(0, offset - PAGE_LINES))}>
            {changesText.newer}
          </button>
        )}
        {meta?.pagination.has_more === true && (
          <button type="button" onClick={() => setOffset(offset + PAGE_LINES)}>
            {changesText.older}
          </button>
        )}
      </p>
    </>
  );
}
