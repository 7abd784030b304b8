// Page for a record missing at the timestamp in the URL: removed, not yet created, or inaccessible. Requests only the
// versions needed, since the history may be long.

import type { Refusal } from "../api/refusal.ts";
import { useResponse } from "../api/response.ts";
import { Page } from "../components/page.tsx";
import { Problem } from "../components/problem.tsx";
import { Waiting } from "../components/waiting.tsx";
import { When } from "../components/when.tsx";
import { IgnoreRemoved } from "../discovery/ignore-removed.tsx";
import { lastSaved } from "../editing/saved.ts";
import { capital, kindWords, type PagedKind } from "../kinds/kinds.ts";
import { headingOf } from "../names/display-name.ts";
import { Named } from "../names/named.tsx";
import { Restore, type RestoreProps } from "../plans/restore.tsx";
import { changesText } from "../text/changes.ts";
import { atQuery, isPast } from "../time/at.ts";
import { formatUtc, parseInstant } from "../time/instant.ts";
import { hrefHere, pathname } from "../url/location.ts";
import { type RecordVersion, versionOf } from "./versions.ts";

export function MissingRecord({ kind, id }: { readonly kind: PagedKind; readonly id: string }) {
  const { version, isDeleted, problem, retry, isKnown } = useLastKnown(kind, id);
  const [word] = kindWords(kind);
  if (version === null)
    return (
      <Page title={capital(word)}>
        {problem !== null && <Problem problem={problem} retry={retry} />}
        {problem === null && (isKnown ? <p>{changesText.unknown(word)}</p> : <Waiting />)}
      </Page>
    );
  const { at } = version.transaction;
  const mergedInto = version.record.consolidated_into ?? null;
  const name = <bdi>{headingOf(kind, { ...version.record, id })}</bdi>;
  if (!isDeleted)
    return (
      <Page title={changesText.notYet(word)} about={name}>
        <p>
          Created <When instant={at} as="both" />. <a href={hrefHere({ at })}>Show at that time</a>
        </p>
      </Page>
    );
  const lastInstant = formatUtc((parseInstant(at) ?? 0) - 1);
  return (
    <Page title={changesText.gone(word)} about={name}>
      <p>
        <Removal transaction={version.transaction} />
      </p>
      {mergedInto !== null && (
        <p>
          Merged into <Named kind="host" id={mergedInto} as={at} />, whose history includes this host.
        </p>
      )}
      <p>
        <a href={hrefHere({ at: lastInstant })}>Show last state</a>
      </p>
      {!isPast.value && <RestoreRemoved kind={kind} id={id} at={lastInstant} />}
      {!isPast.value && <IgnoreRemoved kind={kind} id={id} />}
    </Page>
  );
}

export function Removal({ transaction: { at, actor, reason } }: Pick<RecordVersion, "transaction">) {
  return (
    <>
      It was removed <When instant={at} as="both" /> by <bdi>{actor.name}</bdi>
      {reason !== null && (
        <>
          : <bdi>{reason}</bdi>
        </>
      )}
      .
    </>
  );
}

/** Restores a removed record to its last state. The page of the restored record reports it. */
export function RestoreRemoved({ kind, id, ...rest }: Omit<RestoreProps, "label" | "onRestored">) {
  const report = (sequence: number) => {
    lastSaved.value = { kind, id, operation: "restored", sequence, merged: [], page: pathname.value };
  };
  return <Restore kind={kind} id={id} label="Restore" {...rest} onRestored={report} />;
}

function useLastKnown(kind: PagedKind, id: string) {
  const last = useResponse(versionOf(kind, id, atQuery()), { how: "refresh", id });
  const neverExisted = hasNoVersions(last.data, last.problem);
  const newest = useResponse(neverExisted ? versionOf(kind, id, {}) : null);
  const count = hasNoVersions(newest.data, newest.problem) ? 0 : (newest.meta?.pagination.total_count ?? null);
  const first = useResponse(count === null || count === 0 ? null : versionOf(kind, id, { offset: count - 1 }));
  const failed = [last, newest, first].find(({ problem }) => problem !== undefined && !isNotFound(problem));
  const [lastVersion] = last.data ?? [];
  const version = neverExisted ? (first.data?.[0] ?? null) : lastVersion?.operation === "Deleted" ? lastVersion : null;
  return {
    /** Deletion, or the first version if created later; null while loading or if there is neither. */
    version,
    isDeleted: !neverExisted,
    // A record that was just restored will appear shortly.
    isKnown: neverExisted ? count === 0 : lastVersion !== undefined && lastSaved.value?.id !== id,
    problem: failed?.problem ?? null,
    retry: () => failed?.retry(),
  };
}

function isNotFound({ status }: Refusal): boolean {
  // Malformed ids are rejected with 400.
  return status === 404 || status === 400;
}

/** Whether the response shows that there are no versions. */
function hasNoVersions(data: readonly RecordVersion[] | undefined, problem: Refusal | undefined): boolean {
  return problem === undefined ? data?.length === 0 : isNotFound(problem);
}
