// Generic page of a record at the instant of the address, for kinds without a page of their own: fields, edit and
// restore actions, and history.

import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { SELF_EVIDENT } from "../changes/difference-lines.ts";
import { CustomFacts } from "../changes/record-facts.tsx";
import { Transactions, transactionsRead } from "../changes/transactions.tsx";
import { EditButton, EditPlace } from "../editing/edit-place.tsx";
import { lastSaved } from "../editing/saved.ts";
import {
  apiPath,
  capital,
  isEditedKind,
  isPagedKind,
  isRecordKind,
  kindWords,
  type PagedKind,
  type RecordKind,
} from "../kinds/kinds.ts";
import { UNTOLD_FIELDS } from "../kinds/untold-fields.ts";
import { calledOf } from "../names/called.ts";
import { fieldTitle } from "../names/custom-fields.ts";
import { Fact } from "../parts/facts.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { changesText } from "../text/changes.ts";
import { at, atQuery, isPast, vs } from "../time/at.ts";
import { formatUtc, parseInstant } from "../time/instant.ts";
import { useSubject } from "../time/subject.ts";
import { hrefHere, pathname } from "../url/location.ts";
import { Value } from "../values/value.tsx";
import { Restore } from "../writes/restore.tsx";

type PlainKind = Exclude<RecordKind, PagedKind>;

export function PlainRecordPage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const { kind = "", id = "" } = params;
  if (!isRecordKind(kind) || isPagedKind(kind))
    return (
      <Page title="Record">
        <p>{changesText.unknown("Record".toLowerCase())}</p>
      </Page>
    );
  return <PlainRecord key={`${kind} ${id}`} kind={kind} id={id} />;
}

/** Record content of a version. */
type Said = Readonly<Record<string, unknown>> & { readonly id: string };

function PlainRecord({ kind, id }: { readonly kind: PlainKind; readonly id: string }) {
  useSubject({ id });
  const [word] = kindWords(kind);
  const asked = read(`${apiPath(kind)}/{id}/history`, { path: { id }, query: { limit: 1, ...atQuery() } });
  const { data, problem, again } = useAnswer(asked, { how: "refresh", id });
  if (data === undefined && problem?.status !== 404 && problem?.status !== 400)
    return (
      <Page title={capital(word)}>
        {problem === undefined ? <Waiting /> : <Problem problem={problem} again={again} />}
      </Page>
    );
  const version = data?.[0];
  if (version === undefined)
    return (
      <Page title={capital(word)}>
        <p>
          {isPast.value ? changesText.notYet(word) : changesText.unknown(word)}{" "}
          {isPast.value && <a href={hrefHere({ at: null })}>Show it now</a>}
        </p>
      </Page>
    );
  const record = version.record as Said;
  const { transaction, operation } = version;
  const isGone = operation === "Deleted";
  const last = formatUtc((parseInstant(transaction.at) ?? 0) - 1);
  const name = calledOf(kind, record);
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
          {changesText.gone(word)}. It was removed <When instant={transaction.at} as="both" /> by{" "}
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
          verb="Bring it back"
          onDone={again}
          onRestored={(sequence) => {
            // The page of the restored record shows the notice.
            lastSaved.value = { kind, id, operation: "restored", sequence, merged: [], place: pathname.value };
          }}
        />
      )}
      {isOffered && !isGone && isPast.value && at.value !== null && (
        <Restore key={at.value} kind={kind} id={id} at={at.value} verb="Restore this" />
      )}
      <Facts kind={kind} record={record} />
      <h2>History</h2>
      <Transactions of={transactions} hostId={typeof record.host_id === "string" ? record.host_id : undefined} />
    </Page>
  );
}

/** Fields shown elsewhere on the page, equal for all records, or shown in parts of their own. */
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
