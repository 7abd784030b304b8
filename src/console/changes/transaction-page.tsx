// Transaction page: time, actor, reason, request, and all changes.

import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { mayRevert } from "../session/me.ts";
import { changesText } from "../text/changes.ts";
import { formatUtc, parseInstant } from "../time/instant.ts";
import { hrefOf } from "../url/location.ts";
import { PlannedWrite } from "../writes/planned-write.tsx";
import { revertPlan } from "../writes/plans.ts";
import { Difference } from "./difference.tsx";
import { SentenceList } from "./sentence.tsx";

export function TransactionPage({ params: { sequence = "" } }: { readonly params: Readonly<Record<string, string>> }) {
  const number = Number(sequence);
  const title = changesText.transaction(number);
  const isNumber = Number.isSafeInteger(number) && number > 0;
  const [isUndoing, setUndoing] = useState(false);
  useEffect(() => setUndoing(false), [number]);
  const asked = read("/api/v1/transactions/{sequence}", {
    path: { sequence: number },
    query: { include: "highlights" },
  });
  const { data, problem, again } = useAnswer(isNumber ? asked : null);
  if (!isNumber || problem?.status === 404)
    return (
      <Page title="Changes" actions={isNumber && <Beside number={number} />}>
        <p>
          Transaction not found, or you don't have access to its changes. <a href={hrefOf("/changes")}>All changes</a>
        </p>
      </Page>
    );
  if (data === undefined)
    return (
      <Page title={title}>{problem === undefined ? <Waiting /> : <Problem problem={problem} again={again} />}</Page>
    );
  const { at, actor, reason, request_id, command, changes } = data;
  const before = formatUtc((parseInstant(at) ?? 0) - 1);
  return (
    <Page
      title={title}
      about={<When instant={at} as="both" precision="millisecond" />}
      reads={[asked.url]}
      actions={
        <>
          {mayRevert(actor) && !isUndoing && (
            <button type="button" onClick={() => setUndoing(true)}>
              Undo
            </button>
          )}
          <Beside number={number} />
          <a class="button" href={hrefOf("/compare", { vs: before, at })}>
            Compare before and after
          </a>
        </>
      }
    >
      {isUndoing && (
        <PlannedWrite
          key={number}
          title="Undo this transaction"
          verb="Undo"
          run={(sending) => revertPlan(number, sending)}
          onEnd={() => setUndoing(false)}
        />
      )}
      <dl class="facts">
        <div>
          <dt>Who</dt>
          <dd>
            <bdi>{actor.name}</bdi> <span class="aside">({changesText.actors[actor.type]})</span>
          </dd>
        </div>
        <div>
          <dt>Reason</dt>
          <dd>{reason === null ? <i class="aside">no reason given</i> : <bdi>{reason}</bdi>}</dd>
        </div>
        <div>
          <dt>Command</dt>
          <dd>
            <code>{command}</code>, {changesText.counts(changes)}
          </dd>
        </div>
        {request_id !== null && (
          <div>
            <dt>Request</dt>
            <dd>
              <code>{request_id}</code>
            </dd>
          </div>
        )}
      </dl>
      <SentenceList transaction={data} />
      <Whole from={before} to={at} />
    </Page>
  );
}

/** Links to the nearest accessible transactions, if any. */
function Beside({ number }: { readonly number: number }) {
  const before = useAnswer(
    read("/api/v1/transactions", { query: { filter: `sequence < ${number}`, order_direction: "desc", limit: 1 } }),
  );
  const after = useAnswer(
    read("/api/v1/transactions", { query: { filter: `sequence > ${number}`, order_direction: "asc", limit: 1 } }),
    { how: "refresh" },
  );
  const link = ({ data, isEarlier }: typeof before, rel: string, text: string) => {
    const sequence = isEarlier ? undefined : data?.[0]?.sequence;
    return (
      sequence !== undefined && (
        <a class="button" href={hrefOf(`/changes/${sequence}`)} rel={rel}>
          {text}
        </a>
      )
    );
  };
  return (
    <>
      {link(before, "prev", "View before")}
      {link(after, "next", "View after")}
    </>
  );
}

/** Diff from the preceding millisecond: instants of transactions are unique. */
function Whole({ from, to }: { readonly from: string; readonly to: string }) {
  const { data, problem, again } = useAnswer(read("/api/v1/diff", { query: { from, to } }));
  if (data === undefined) return problem === undefined ? <Waiting /> : <Problem problem={problem} again={again} />;
  return <Difference diff={data} />;
}
