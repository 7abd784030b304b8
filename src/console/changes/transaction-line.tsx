// Transaction in one line: time, summary, actor, reason. Loads its contents when opened.

import { useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { changesText } from "../text/changes.ts";
import { groupedDigits } from "../text/digits.ts";
import { formatUtc, parseInstant } from "../time/instant.ts";
import { hrefHere, hrefOf } from "../url/location.ts";
import { Difference } from "./difference.tsx";
import { Sentence } from "./sentence.tsx";
import type { TransactionData } from "./transaction-data.ts";

interface TransactionLineProps {
  readonly transaction: TransactionData;
  /** Limits the contents to one host. */
  readonly hostId?: string | undefined;
}

export function TransactionLine({ transaction, hostId }: TransactionLineProps) {
  const [isOpen, setOpen] = useState(false);
  const { sequence, at, actor, reason } = transaction;
  return (
    <li class="transaction">
      <button
        type="button"
        class="opens"
        aria-expanded={isOpen}
        title={`What transaction ${sequence} changed`}
        onClick={() => setOpen(!isOpen)}
      >
        <When instant={at} />
      </button>
      <p class="told">
        <span class="what">
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

/** Diff from the preceding millisecond: instants of transactions are unique. */
function Contents({ transaction, hostId }: TransactionLineProps) {
  const { at } = transaction;
  const instant = parseInstant(at) ?? 0;
  const query = { from: formatUtc(instant - 1), to: at, ...(hostId === undefined ? {} : { host_id: hostId }) };
  const { data, problem, again } = useAnswer(read("/api/v1/diff", { query }));
  return (
    <div class="opened">
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Waiting />}
      {data !== undefined && <Difference diff={data} more={moreChanges} />}
      <p class="aside">
        <a href={hrefHere({ at })}>Show it then</a>{" "}
        <a href={hrefOf(`/changes/${transaction.sequence}`)}>{changesText.transaction(transaction.sequence)}</a>
      </p>
    </div>
  );
}
