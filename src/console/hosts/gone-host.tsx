// A host that is not there at the instant of the address: gone since, not there yet, or never within reach.

import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { changesText } from "../text/changes.ts";
import { hostText } from "../text/hosts.ts";
import { atMs } from "../time/at.ts";
import { formatUtc, parseInstant } from "../time/instant.ts";
import { hrefHere } from "../url/location.ts";

export function GoneHost({ id }: { readonly id: string }) {
  const asked = read("/api/v1/hosts/{id}/history", { path: { id }, query: { limit: 0, include_children: false } });
  const { data, problem } = useAnswer(asked);
  if (problem !== undefined)
    return (
      <Page title={hostText.host}>
        {problem.status === 404 || problem.status === 400 ? <p>{hostText.unknown}</p> : <Problem problem={problem} />}
      </Page>
    );
  if (data === undefined)
    return (
      <Page title={hostText.host}>
        <Waiting />
      </Page>
    );
  const first = data.at(-1);
  const askedMs = atMs.value;
  const firstMs = first === undefined ? null : parseInstant(first.transaction.at);
  if (first !== undefined && askedMs !== null && firstMs !== null && askedMs < firstMs)
    return (
      <Page title={hostText.notYet} about={<bdi>{first.record.name}</bdi>}>
        <p>
          {hostText.beganAt} <When instant={first.transaction.at} as="both" />.{" "}
          <a href={hrefHere({ at: first.transaction.at })}>{hostText.showFirst}</a>
        </p>
      </Page>
    );
  const end = data.find(
    ({ operation, transaction }) =>
      operation === "Deleted" && (askedMs === null || (parseInstant(transaction.at) ?? 0) <= askedMs),
  );
  if (end === undefined)
    return (
      <Page title={hostText.host}>
        <p>{hostText.unknown}</p>
      </Page>
    );
  const { at, actor, reason } = end.transaction;
  return (
    <Page title={hostText.gone} about={<bdi>{end.record.name}</bdi>}>
      <p>
        {hostText.goneAt} <When instant={at} as="both" /> {changesText.by} <bdi>{actor.name}</bdi>
        {reason !== null && (
          <>
            : <bdi>{reason}</bdi>
          </>
        )}
        .
      </p>
      <p>
        <a href={hrefHere({ at: formatUtc((parseInstant(at) ?? 0) - 1) })}>{hostText.showLast}</a>
      </p>
    </Page>
  );
}
