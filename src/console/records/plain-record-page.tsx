// A record of a kind that has no page of its own, at the instant of the address: what it says, field by field, the way to
// edit it, and its history, from which it is brought back.

import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { CustomFacts } from "../changes/custom-facts.tsx";
import { SELF_EVIDENT } from "../changes/difference-lines.ts";
import { Transactions, transactionsRead } from "../changes/transactions.tsx";
import { EditButton, EditPlace } from "../editing/edit-place.tsx";
import { isEditedKind } from "../editing/edited-kinds.ts";
import { lastSaved } from "../editing/saved.ts";
import { fieldTitle } from "../names/custom-fields.ts";
import { shownName } from "../names/shown-name.ts";
import { Fact } from "../parts/facts.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { changesText, kindText } from "../text/changes.ts";
import { planText } from "../text/editing.ts";
import { recordText } from "../text/records.ts";
import { at, atQuery, isPast, vs } from "../time/at.ts";
import { formatUtc, parseInstant } from "../time/instant.ts";
import { useSubject } from "../time/subject.ts";
import { hrefHere, pathname } from "../url/location.ts";
import { UNTOLD_FIELDS, Value } from "../values/value.tsx";
import { Restore } from "../writes/restore.tsx";

/** All of them are asked alike. */
const HISTORIES = {
  network: "/api/v1/networks/{id}/history",
  ip_range: "/api/v1/ip-ranges/{id}/history",
  ip_address: "/api/v1/ip-addresses/{id}/history",
  port: "/api/v1/ports/{id}/history",
  service: "/api/v1/services/{id}/history",
  binding: "/api/v1/bindings/{id}/history",
  schedule: "/api/v1/discovery/schedules/{id}/history",
  ignored: "/api/v1/discovery/ignored/{id}/history",
  credential: "/api/v1/credentials/{id}/history",
  tag: "/api/v1/tags/{id}/history",
  custom_field: "/api/v1/custom-fields/{id}/history",
  marker: "/api/v1/markers/{id}/history",
  user: "/api/v1/users/{id}/history",
  api_key: "/api/v1/auth/keys/{id}/history",
} as const;
type PlainKind = keyof typeof HISTORIES;

function isPlainKind(kind: string): kind is PlainKind {
  return Object.hasOwn(HISTORIES, kind);
}

export function PlainRecordPage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const { kind = "", id = "" } = params;
  if (!isPlainKind(kind))
    return (
      <Page title={recordText.record}>
        <p>{changesText.unknown(recordText.record.toLowerCase())}</p>
      </Page>
    );
  return <PlainRecord key={`${kind} ${id}`} kind={kind} id={id} />;
}

/** What a version says of its record. */
type Said = Readonly<Record<string, unknown>> & { readonly id: string };

function PlainRecord({ kind, id }: { readonly kind: PlainKind; readonly id: string }) {
  useSubject({ id });
  const [word] = kindText[kind] ?? [kind];
  const asked = read(HISTORIES[kind], { path: { id }, query: { limit: 1, ...atQuery() } });
  const { data, problem, again } = useAnswer(asked, { how: "refresh", id });
  if (data === undefined && problem?.status !== 404 && problem?.status !== 400)
    return (
      <Page title={titled(word)}>
        {problem === undefined ? <Waiting /> : <Problem problem={problem} again={again} />}
      </Page>
    );
  const version = data?.[0];
  if (version === undefined)
    return (
      <Page title={titled(word)}>
        <p>
          {isPast.value ? changesText.notYet(word) : changesText.unknown(word)}{" "}
          {isPast.value && <a href={hrefHere({ at: null })}>{recordText.showNow}</a>}
        </p>
      </Page>
    );
  const record = version.record as Said;
  const { transaction, operation } = version;
  const isGone = operation === "Deleted";
  const last = formatUtc((parseInstant(transaction.at) ?? 0) - 1);
  const name = calledAs(record);
  const isOffered = vs.value === null;
  const own = isEditedKind(kind) && !isGone ? kind : null;
  const transactions = { id, ...atQuery() };
  return (
    <Page
      title={name}
      about={word}
      reads={[asked.url, transactionsRead(transactions).url]}
      actions={own !== null && <EditButton kind={own} />}
    >
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {own !== null && <EditPlace own={{ kind: own, id, name }} onSaved={again} />}
      {isGone && (
        <p>
          {changesText.gone(word)}. {changesText.goneAt} <When instant={transaction.at} as="both" /> {changesText.by}{" "}
          <bdi>{transaction.actor.name}</bdi>
          {transaction.reason !== null && (
            <>
              : <bdi>{transaction.reason}</bdi>
            </>
          )}
          .
        </p>
      )}
      {isOffered && isGone && !isPast.value && (
        <Restore
          kind={kind}
          id={id}
          at={last}
          verb={planText.bringBack}
          onDone={again}
          onRestored={(sequence) => {
            // What was done is told by the page of what is there again.
            lastSaved.value = { kind, id, operation: "restored", sequence, merged: [], place: pathname.value };
          }}
        />
      )}
      {isOffered && !isGone && isPast.value && at.value !== null && (
        <Restore key={at.value} kind={kind} id={id} at={at.value} verb={planText.restoreVerb} />
      )}
      <Facts kind={kind} record={record} />
      <h2>{recordText.history}</h2>
      <Transactions of={transactions} hostId={typeof record.host_id === "string" ? record.host_id : undefined} />
    </Page>
  );
}

/** Said elsewhere on the page, the same for all, or told in parts of its own. */
const UNTOLD: ReadonlySet<string> = new Set([...SELF_EVIDENT, ...UNTOLD_FIELDS, "custom_fields"]);

function Facts({ kind, record }: { readonly kind: PlainKind; readonly record: Said }) {
  return (
    <dl class="facts">
      {Object.entries(record)
        .filter(([field]) => !UNTOLD.has(field))
        .map(([field, value]) => (
          <Fact key={field} name={fieldTitle(field)}>
            <Value field={field} value={value} at={at.value} />
          </Fact>
        ))}
      <CustomFacts kind={kind} record={record} />
    </dl>
  );
}

/** What people call it: an address, `443/Tcp`, the ends of a range, a label; else the end of its id. */
function calledAs(record: Said): string {
  const { ip_address, first, last, number, protocol, label, name, email, type } = record as Readonly<
    Record<string, string | undefined>
  >;
  if (first !== undefined) return `${first} – ${last}`;
  if (protocol !== undefined) return `${String(number)}/${protocol}`;
  return shownName(record.id, ip_address, label, name, email, type);
}

function titled(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
