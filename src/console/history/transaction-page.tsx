// Transaction page: time, actor, reason, request and all changes.

import { useEffect, useState } from "preact/hooks";
import { read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { ActionButton, LinkButton } from "../components/buttons.tsx";
import { Fact } from "../components/facts.tsx";
import { Page } from "../components/page.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { When } from "../components/when.tsx";
import { PlannedWrite } from "../plans/planned-write.tsx";
import { revertPlan } from "../plans/plans.ts";
import { mayRevert } from "../session/me.ts";
import { changesText } from "../text/changes.ts";
import { formatUtc, parseInstant } from "../time/instant.ts";
import { hrefOf } from "../url/location.ts";
import { Difference } from "./difference.tsx";
import { SentenceList } from "./sentence.tsx";

export function TransactionPage({ params: { sequence = "" } }: { readonly params: Readonly<Record<string, string>> }) {
  const number = Number(sequence);
  const title = changesText.transaction(number);
  const isNumber = Number.isSafeInteger(number) && number > 0;
  const [isUndoing, setUndoing] = useState(false);
  useEffect(() => setUndoing(false), [number]);
  const request = read("/api/v1/transactions/{sequence}", {
    path: { sequence: number },
    query: { include: "highlights" },
  });
  const { data, problem, retry } = useResponse(isNumber ? request : null);
  if (!isNumber || problem?.status === 404)
    return (
      <Page title="Changes" actions={isNumber && <AdjacentLinks number={number} />}>
        <p>
          Transaction not found, or you don't have access to its changes. <a href={hrefOf("/changes")}>All changes</a>
        </p>
      </Page>
    );
  if (data === undefined)
    return (
      <Page title={title}>
        <ResponseState problem={problem} retry={retry} />
      </Page>
    );
  const { at, actor, reason, request_id, command, changes } = data;
  const before = formatUtc((parseInstant(at) ?? 0) - 1);
  return (
    <Page
      title={title}
      about={<When instant={at} as="both" precision="millisecond" />}
      reads={[request.url]}
      actions={
        <>
          {mayRevert(actor) && !isUndoing && <ActionButton label="Undo" onClick={() => setUndoing(true)} />}
          <AdjacentLinks number={number} />
          <LinkButton href={hrefOf("/compare", { vs: before, at })} label="Compare before and after" />
        </>
      }
    >
      {isUndoing && (
        <PlannedWrite
          key={number}
          title="Undo this transaction"
          submitLabel="Undo"
          run={(options) => revertPlan(number, options)}
          onEnd={() => setUndoing(false)}
        />
      )}
      <dl class="facts">
        <Fact name="Who">
          <bdi>{actor.name}</bdi> <span class="aside">({changesText.actors[actor.type]})</span>
        </Fact>
        <Fact name="Reason">{reason === null ? <i class="aside">no reason given</i> : <bdi>{reason}</bdi>}</Fact>
        <Fact name="Command">
          <code>{command}</code>, {changesText.counts(changes)}
        </Fact>
        {request_id !== null && (
          <Fact name="Request">
            <code>{request_id}</code>
          </Fact>
        )}
      </dl>
      <SentenceList transaction={data} />
      <FullDiff from={before} to={at} />
    </Page>
  );
}

/** Links to the nearest accessible transactions, if any. */
function AdjacentLinks({ number }: { readonly number: number }) {
  const readOf = (sign: "<" | ">", order_direction: "asc" | "desc") =>
    read("/api/v1/transactions", { query: { filter: `sequence ${sign} ${number}`, order_direction, limit: 1 } });
  const before = useResponse(readOf("<", "desc"));
  const after = useResponse(readOf(">", "asc"), { how: "refresh" });
  const link = ({ data, isEarlier }: typeof before, rel: string, text: string) => {
    const sequence = isEarlier ? undefined : data?.[0]?.sequence;
    return sequence !== undefined && <LinkButton href={hrefOf(`/changes/${sequence}`)} label={text} rel={rel} />;
  };
  return (
    <>
      {link(before, "prev", "View before")}
      {link(after, "next", "View after")}
    </>
  );
}

/** Diff from the preceding millisecond, since transactions have unique timestamps. */
function FullDiff({ from, to }: { readonly from: string; readonly to: string }) {
  const { data, problem, retry } = useResponse(read("/api/v1/diff", { query: { from, to } }));
  return data === undefined ? <ResponseState problem={problem} retry={retry} /> : <Difference diff={data} />;
}
