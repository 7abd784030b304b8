// A record that is not there at the instant of the address: gone since, not there yet, or never within reach.

import { useAnswer } from "../api/answer.ts";
import { type Read, read } from "../api/client.ts";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { changesText, kindText } from "../text/changes.ts";
import { atMs } from "../time/at.ts";
import { formatUtc, parseInstant } from "../time/instant.ts";
import { hrefHere } from "../url/location.ts";

/** Kinds with a page of their own, by their names in the API. */
type PagedKind = "host" | "if_entry" | "subnet" | "vlan";

interface GoneProps {
  readonly kind: PagedKind;
  readonly id: string;
}

export function Gone({ kind, id }: GoneProps) {
  const { data, problem } = useAnswer(versionsOf(kind, id));
  const word = kindText[kind]?.[0] ?? kind;
  const title = word.charAt(0).toUpperCase() + word.slice(1);
  if (problem !== undefined && problem.status !== 404 && problem.status !== 400)
    return (
      <Page title={title}>
        <Problem problem={problem} />
      </Page>
    );
  if (data === undefined && problem === undefined)
    return (
      <Page title={title}>
        <Waiting />
      </Page>
    );
  const versions = data ?? [];
  const first = versions.at(-1);
  const askedMs = atMs.value;
  const firstMs = first === undefined ? null : parseInstant(first.transaction.at);
  if (first !== undefined && askedMs !== null && firstMs !== null && askedMs < firstMs)
    return (
      <Page title={changesText.notYet(word)} about={<bdi>{nameIn(first.record)}</bdi>}>
        <p>
          {changesText.beganAt} <When instant={first.transaction.at} as="both" />.{" "}
          <a href={hrefHere({ at: first.transaction.at })}>{changesText.showFirst}</a>
        </p>
      </Page>
    );
  const end = versions.find(
    ({ operation, transaction }) =>
      operation === "Deleted" && (askedMs === null || (parseInstant(transaction.at) ?? 0) <= askedMs),
  );
  if (end === undefined)
    return (
      <Page title={title}>
        <p>{changesText.unknown(word)}</p>
      </Page>
    );
  const { at, actor, reason } = end.transaction;
  return (
    <Page title={changesText.gone(word)} about={<bdi>{nameIn(end.record)}</bdi>}>
      <p>
        {changesText.goneAt} <When instant={at} as="both" /> {changesText.by} <bdi>{actor.name}</bdi>
        {reason !== null && (
          <>
            : <bdi>{reason}</bdi>
          </>
        )}
        .
      </p>
      <p>
        <a href={hrefHere({ at: formatUtc((parseInstant(at) ?? 0) - 1) })}>{changesText.showLast}</a>
      </p>
    </Page>
  );
}

interface GoneVersion {
  readonly operation: string;
  readonly transaction: {
    readonly at: string;
    readonly actor: { readonly name: string };
    readonly reason: string | null;
  };
  readonly record: Called;
}

function versionsOf(kind: PagedKind, id: string): Read<readonly GoneVersion[]> {
  const asked = { path: { id }, query: { limit: 0 } };
  switch (kind) {
    case "host":
      return read("/api/v1/hosts/{id}/history", { ...asked, query: { limit: 0, include_children: false } });
    case "if_entry":
      return read("/api/v1/if-entries/{id}/history", asked);
    case "subnet":
      return read("/api/v1/subnets/{id}/history", asked);
    case "vlan":
      return read("/api/v1/vlans/{id}/history", asked);
  }
}

/** What is told of a record as it was: each kind has another field that says what it is called. */
interface Called {
  readonly name?: string;
  readonly cidr?: string;
  readonly number?: number;
  readonly if_name?: string | null;
  readonly if_descr?: string;
}

function nameIn({ cidr, number, if_name, if_descr, name = "" }: Called): string {
  if (number !== undefined) return `${number} ${name}`.trim();
  return cidr ?? (if_name || if_descr || name);
}
