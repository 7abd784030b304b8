// Page for a record missing at the instant of the address: removed, not yet created, or inaccessible. Requests only the
// versions needed, since the history may be long.

import { useAnswer } from "../api/answer.ts";
import type { Refusal } from "../api/refusal.ts";
import { lastSaved } from "../editing/saved.ts";
import { capital, kindWords, type PagedKind } from "../kinds/kinds.ts";
import { headingOf } from "../names/called.ts";
import { Named } from "../names/named.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { changesText } from "../text/changes.ts";
import { atQuery, isPast } from "../time/at.ts";
import { formatUtc, parseInstant } from "../time/instant.ts";
import { hrefHere, pathname } from "../url/location.ts";
import { Restore } from "../writes/restore.tsx";
import { type RecordVersion, versionOf } from "./versions.ts";

interface GoneProps {
  readonly kind: PagedKind;
  readonly id: string;
}

export function Gone({ kind, id }: GoneProps) {
  const { version, isEnd, problem, again, isKnown } = useFate(kind, id);
  const [word] = kindWords(kind);
  if (version === null)
    return (
      <Page title={capital(word)}>
        {problem !== null && <Problem problem={problem} again={again} />}
        {problem === null && (isKnown ? <p>{changesText.unknown(word)}</p> : <Waiting />)}
      </Page>
    );
  const { at, actor, reason } = version.transaction;
  const into = version.record.consolidated_into ?? null;
  const name = <bdi>{headingOf(kind, { ...version.record, id })}</bdi>;
  if (!isEnd)
    return (
      <Page title={changesText.notYet(word)} about={name}>
        <p>
          Its first version is of <When instant={at} as="both" />. <a href={hrefHere({ at })}>Show it then</a>
        </p>
      </Page>
    );
  const last = formatUtc((parseInstant(at) ?? 0) - 1);
  return (
    <Page title={changesText.gone(word)} about={name}>
      <p>
        It was removed <When instant={at} as="both" /> by <bdi>{actor.name}</bdi>
        {reason !== null && (
          <>
            : <bdi>{reason}</bdi>
          </>
        )}
        .
      </p>
      {into !== null && (
        <p>
          It went into <Named kind="host" id={into} as={at} />. The two are one host, and its history is listed there.
        </p>
      )}
      <p>
        <a href={hrefHere({ at: last })}>Show it as it was last</a>
      </p>
      {!isPast.value && (
        <Restore
          kind={kind}
          id={id}
          at={last}
          verb="Bring it back"
          onRestored={(sequence) => {
            // The record's page replaces this one and shows the notice.
            lastSaved.value = { kind, id, operation: "restored", sequence, merged: [], place: pathname.value };
          }}
        />
      )}
    </Page>
  );
}

interface Fate {
  /** Deletion, or first version if created later; null while loading or without one. */
  readonly version: RecordVersion | null;
  readonly isEnd: boolean;
  readonly isKnown: boolean;
  readonly problem: Refusal | null;
  again(): void;
}

function useFate(kind: PagedKind, id: string): Fate {
  const last = useAnswer(versionOf(kind, id, atQuery()), { how: "refresh", id });
  const wasNever = isNever(last.data, last.problem);
  const newest = useAnswer(wasNever ? versionOf(kind, id, {}) : null);
  const count = isNever(newest.data, newest.problem) ? 0 : (newest.meta?.pagination.total_count ?? null);
  const first = useAnswer(count === null || count === 0 ? null : versionOf(kind, id, { offset: count - 1 }));
  const failed = [last, newest, first].find(({ problem }) => problem !== undefined && !isNotFound(problem));
  const [end] = last.data ?? [];
  const version = wasNever ? (first.data?.[0] ?? null) : end?.operation === "Deleted" ? end : null;
  return {
    version,
    isEnd: !wasNever,
    // A record just restored will appear shortly.
    isKnown: wasNever ? count === 0 : end !== undefined && lastSaved.value?.id !== id,
    problem: failed?.problem ?? null,
    again: () => failed?.again(),
  };
}

function isNotFound({ status }: Refusal): boolean {
  // Malformed ids are rejected with 400.
  return status === 404 || status === 400;
}

/** Whether the answer has no versions. */
function isNever(data: readonly RecordVersion[] | undefined, problem: Refusal | undefined): boolean {
  return problem === undefined ? data?.length === 0 : isNotFound(problem);
}
