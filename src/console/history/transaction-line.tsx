// Transaction as a line: time, summary, actor and reason. Opening it loads the changes.

import { useState } from "preact/hooks";
import { read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { ResponseState } from "../components/response-state.tsx";
import { When } from "../components/when.tsx";
import { changesText } from "../text/changes.ts";
import { groupedDigits } from "../text/digits.ts";
import { formatUtc, parseInstant } from "../time/instant.ts";
import { hrefHere, hrefOf } from "../url/location.ts";
import { Difference } from "./difference.tsx";
import { Sentence, type TransactionData } from "./sentence.tsx";

interface TransactionLineProps {
  readonly transaction: TransactionData;
  /** Limits the changes to one host. */
  readonly hostId?: string | undefined;
}

export function TransactionLine({ transaction, hostId }: TransactionLineProps) {
  const [isOpen, setOpen] = useState(false);
  const { sequence, at, actor, reason } = transaction;
  return (
    <li class="transaction">
      <button
        type="button"
        class="transaction-toggle"
        aria-expanded={isOpen}
        title={`Changes of transaction ${sequence}`}
        onClick={() => setOpen(!isOpen)}
      >
        <When instant={at} />
      </button>
      <p class="transaction-text">
        <span class="transaction-summary">
          <Sentence transaction={transaction} hostId={hostId} />
        </span>{" "}
        <span class="aside">
          by <bdi>{actor.name}</bdi>
          {actor.type !== "User" && ` (${changesText.actors[actor.type]})`}
        </span>
        {reason !== null && (
          <>
            {" "}
            <bdi class="reason">{reason}</bdi>
          </>
        )}
      </p>
      {isOpen && <Contents transaction={transaction} hostId={hostId} />}
    </li>
  );
}

const moreChanges = (count: number) => `${groupedDigits(count)} more: open the transaction to see all.`;

/** Diff from the preceding millisecond, since transactions have unique timestamps. */
function Contents({ transaction, hostId }: TransactionLineProps) {
  const { at } = transaction;
  const instant = parseInstant(at) ?? 0;
  const query = { from: formatUtc(instant - 1), to: at, ...(hostId === undefined ? {} : { host_id: hostId }) };
  const { data, problem, retry } = useResponse(read("/api/v1/diff", { query }));
  return (
    <div class="transaction-changes">
      <ResponseState data={data} problem={problem} retry={retry} />
      {data !== undefined && <Difference diff={data} more={moreChanges} />}
      <p class="aside">
        <a href={hrefHere({ at })}>Show at that time</a>{" "}
        <a href={hrefOf(`/changes/${transaction.sequence}`)}>{changesText.transaction(transaction.sequence)}</a>
      </p>
    </div>
  );
}
