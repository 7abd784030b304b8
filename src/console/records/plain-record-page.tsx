// Generic record page, for kinds without dedicated pages: fields, edit and restore actions, and history.

import { read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { Fact } from "../components/facts.tsx";
import { Page } from "../components/page.tsx";
import { Problem } from "../components/problem.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { EditButton, EditSlot } from "../editing/edit-slot.tsx";
import { Value } from "../field-values/value.tsx";
import { SELF_EVIDENT } from "../history/difference-lines.ts";
import { CustomFacts } from "../history/record-facts.tsx";
import { Transactions, transactionsRead } from "../history/transactions.tsx";
import { HIDDEN_FIELDS } from "../kinds/hidden-fields.ts";
import {
  apiPath,
  capital,
  isEditedKind,
  isPagedKind,
  isRecordKind,
  isWrittenKind,
  kindWords,
  type PagedKind,
  type RecordKind,
} from "../kinds/kinds.ts";
import { fieldTitle } from "../names/custom-fields.ts";
import { displayName } from "../names/display-name.ts";
import { Restore } from "../plans/restore.tsx";
import { changesText } from "../text/changes.ts";
import { at, atQuery, isPast, vs } from "../time/at.ts";
import { formatUtc, parseInstant } from "../time/instant.ts";
import { useSubject } from "../time/subject.ts";
import { hrefHere } from "../url/location.ts";
import { ExpiresNext } from "./expires-next.tsx";
import { Removal, RestoreRemoved } from "./missing-record.tsx";

type PlainKind = Exclude<RecordKind, PagedKind>;

export function PlainRecordPage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const { kind = "", id = "" } = params;
  if (!isRecordKind(kind) || isPagedKind(kind))
    return (
      <Page title="Record">
        <p>{changesText.unknown("record")}</p>
      </Page>
    );
  return <PlainRecord key={`${kind} ${id}`} kind={kind} id={id} />;
}

/** A record as of a version. */
type RecordContent = Readonly<Record<string, unknown>> & { readonly id: string };

function PlainRecord({ kind, id }: { readonly kind: PlainKind; readonly id: string }) {
  useSubject({ id });
  const [word] = kindWords(kind);
  const request = read(`${apiPath(kind)}/{id}/history`, { path: { id }, query: { limit: 1, ...atQuery() } });
  const { data, problem, retry } = useResponse(request, { how: "refresh", id });
  if (data === undefined && problem?.status !== 404 && problem?.status !== 400)
    return (
      <Page title={capital(word)}>
        <ResponseState problem={problem} retry={retry} />
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
  const record = version.record as RecordContent;
  const { transaction, operation } = version;
  const isGone = operation === "Deleted";
  const lastInstant = formatUtc((parseInstant(transaction.at) ?? 0) - 1);
  const name = displayName(kind, record);
  const restorableKind = isWrittenKind(kind) && vs.value === null ? kind : null;
  const editableKind = isEditedKind(kind) && !isGone ? kind : null;
  const transactions = { id, ...atQuery() };
  return (
    <Page
      title={name}
      about={word}
      reads={[request.url, transactionsRead(transactions).url]}
      actions={editableKind !== null && <EditButton kind={editableKind} />}
    >
      {problem !== undefined && <Problem problem={problem} retry={retry} />}
      {editableKind !== null && <EditSlot ownRecord={{ kind: editableKind, id, name }} onSaved={retry} />}
      {isGone && (
        <p>
          {changesText.gone(word)}. <Removal transaction={transaction} />
        </p>
      )}
      {restorableKind !== null && isGone && !isPast.value && (
        <RestoreRemoved kind={restorableKind} id={id} at={lastInstant} onDone={retry} />
      )}
      {restorableKind !== null && !isGone && isPast.value && at.value !== null && (
        <Restore key={at.value} kind={restorableKind} id={id} at={at.value} label="Restore this" />
      )}
      <Facts kind={kind} record={record} />
      {record.expire_hosts_after_hours !== undefined && !isGone && !isPast.value && <ExpiresNext networkId={id} />}
      <h2>History</h2>
      <Transactions filter={transactions} hostId={typeof record.host_id === "string" ? record.host_id : undefined} />
    </Page>
  );
}

/** Fields that are shown elsewhere on the page or equal for all records. */
const HIDDEN: ReadonlySet<string> = new Set([...SELF_EVIDENT, ...HIDDEN_FIELDS, "custom_fields"]);

function Facts({ kind, record }: { readonly kind: PlainKind; readonly record: RecordContent }) {
  return (
    <dl class="facts">
      {Object.entries(record)
        .filter(([field]) => !HIDDEN.has(field))
        .map(([field, value]) => (
          <Fact key={field} name={fieldTitle(field)}>
            <Value field={field} value={value} at={at.value} />
          </Fact>
        ))}
      <CustomFacts kind={kind} record={record} />
    </dl>
  );
}
