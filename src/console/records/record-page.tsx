// The frame of a page about one record: what stands there while it is loaded, where it failed, is gone or not there yet;
// its name, its pin, its parts as tabs, and its history, which is the last of them.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type Answer, Unsettled } from "../api/answer.ts";
import { AsAnswered, ComparisonList, type DiffOf, useComparison, WithComparison } from "../changes/comparison.tsx";
import { Transactions, transactionsRead } from "../changes/transactions.tsx";
import { EditButton, EditPlace, NewButton } from "../editing/edit-place.tsx";
import { capital, type EditedKind, entryOf, kindWords, operationOn, type PagedKind } from "../kinds/kinds.ts";
import { headingOf } from "../names/called.ts";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { may } from "../session/me.ts";
import { Pin } from "../session/pin.tsx";
import { bringBackText } from "../text/bring-back.ts";
import { planText } from "../text/editing.ts";
import { recordText } from "../text/records.ts";
import { at, atMs, atQuery, isPast, vs } from "../time/at.ts";
import { useSubject } from "../time/subject.ts";
import { hrefHere, parameter } from "../url/location.ts";
import { RestoreButton, RestorePlan } from "../writes/restore.tsx";
import { Gone } from "./gone.tsx";

/** One of the parts of a record's page; the first is shown where the address names none. */
export interface RecordTab<Told> {
  /** In the address. */
  readonly key: string;
  readonly title: string;
  /** How many are in it; null where that is not known. */
  count?(record: Told): number | null;
  show(record: Told): ComponentChildren;
  /** What is made here. */
  readonly makes?: readonly EditedKind[];
  /** The addresses of the API that it shows, for curl; the record's own where it says nothing. */
  readonly reads?: readonly string[];
  /** What of it is compared, where two instants are; the record itself where it says nothing. At most three. */
  readonly compares?: readonly DiffOf[];
}

interface RecordPageProps<Told> {
  readonly kind: PagedKind;
  readonly id: string;
  /** The read of the record, and what it was answered. */
  readonly url: string;
  readonly answer: Answer<Told>;
  /** Beside its name. */
  about?(record: Told): ComponentChildren;
  /** What can be done with it, beside the pin. */
  actions?(record: Told): ComponentChildren;
  /** Without its history, which every record has. */
  readonly tabs: readonly [RecordTab<Told>, ...RecordTab<Told>[]];
  /** What is told above its history. */
  beforeHistory?(record: Told): ComponentChildren;
  /** The host that the record is a part of. */
  hostId?(record: Told): string;
}

export function RecordPage<Told extends { readonly id: string }>(props: RecordPageProps<Told>) {
  const { kind, id, url, answer, about, actions, tabs } = props;
  const { data: record, problem, again } = answer;
  const subject = { [entryOf(kind)?.subject ?? "id"]: id };
  useSubject(subject);
  // The instant whose restore is being read; at another one it is another question.
  const [restoredTo, setRestoredTo] = useState<string | null>(null);
  const tab = tabs.find(({ key }) => key === parameter("tab")) ?? tabs[0];
  const isHistory = parameter("tab") === HISTORY;
  const comparison = useComparison(isHistory ? [] : (tab.compares ?? [{ ids: [id] }]));
  // Of what is no instant the bar says so; a marker may become known.
  const isInstant = !isPast.value || atMs.value !== null;
  const isRefused = problem?.status === 400 && record === undefined;
  if (problem?.status === 404 || (isRefused && isInstant)) return <Gone kind={kind} id={id} />;
  const [word] = kindWords(kind);
  if (record === undefined)
    return (
      <Page title={capital(word)}>
        {problem === undefined ? <Waiting /> : <Problem problem={problem} again={again} />}
      </Page>
    );
  const name = headingOf(kind, record);
  const transactions = { ...subject, ...atQuery() };
  const history: RecordTab<Told> = {
    key: HISTORY,
    title: recordText.history,
    show: (told) => (
      <>
        {props.beforeHistory?.(told)}
        <Transactions of={transactions} hostId={props.hostId?.(told)} />
      </>
    ),
    reads: [transactionsRead(transactions).url],
  };
  const then = isPast.value && vs.value === null ? at.value : null;
  const all = [...tabs, history];
  const shown = isHistory ? history : tab;
  return (
    <Page
      title={name}
      about={about?.(record)}
      reads={[...(shown.reads ?? [url]), ...(comparison?.urls ?? [])]}
      actions={
        <>
          <EditButton kind={kind} />
          {then !== null && (
            <RestoreButton
              key={then}
              kind={kind}
              verb={planText.restoreVerb}
              isOpen={restoredTo === then}
              onOpen={() => setRestoredTo(then)}
            />
          )}
          {then !== null && may(operationOn("update", kind)) && (
            <a class="button" href={hrefHere({ at: null, vs: then })}>
              {bringBackText.chooseFields}
            </a>
          )}
          <Pin kind={kind} id={id} />
          {actions?.(record)}
        </>
      }
    >
      {problem !== undefined && <Problem problem={problem} again={again} />}
      <EditPlace own={{ kind, id, name: name }} presets={presetsOf(kind, id, record)} onSaved={again} />
      {then !== null && restoredTo === then && (
        <RestorePlan kind={kind} id={id} at={then} verb={planText.restoreVerb} onEnd={() => setRestoredTo(null)} />
      )}
      <Tabs
        tabs={all.map(({ key, title, count }) => ({ key, title, count: count?.(record) ?? null }))}
        shown={shown.key}
        first={tabs[0].key}
      />
      <WithComparison comparison={comparison}>
        <ComparisonList own={!isHistory && tab === tabs[0] ? kind : undefined} />
        {shown.makes !== undefined && (
          <p class="record-makes">
            {shown.makes.map((each) => (
              <NewButton key={each} kind={each} />
            ))}
          </p>
        )}
        <AsAnswered isEarlier={answer.isEarlier}>
          <Unsettled.Provider value={answer.isEarlier}>{shown.show(record)}</Unsettled.Provider>
        </AsAnswered>
      </WithComparison>
    </Page>
  );
}

/** Where what is made on the page belongs. */
function presetsOf(kind: PagedKind, id: string, record: object): Readonly<Record<string, unknown>> {
  const { network_id } = record as { readonly network_id?: string };
  return { network_id, [`${kind}_id`]: id };
}

/** The last of the tabs, in the address. */
export const HISTORY = "history";
