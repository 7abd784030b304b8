// Frame of a record page: loading, failed and missing states; name, pin, tabs, and the history as the last tab.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type Answer, Unsettled } from "../api/answer.ts";
import { asRefusal } from "../api/client.ts";
import { AsAnswered, ComparisonList, type DiffOf, useComparison, WithComparison } from "../changes/comparison.tsx";
import { Transactions, transactionsRead } from "../changes/transactions.tsx";
import { EditButton, EditPlace, NewButton } from "../editing/edit-place.tsx";
import { capital, type EditedKind, entryOf, kindWords, operationOn, type PagedKind } from "../kinds/kinds.ts";
import { headingOf } from "../names/called.ts";
import { Page } from "../parts/page.tsx";
import { Problem, sentenceOf } from "../parts/problem.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { may } from "../session/me.ts";
import { type Pinned, pins, setPinned } from "../session/pins.ts";
import { at, atMs, atQuery, isPast, vs } from "../time/at.ts";
import { useSubject } from "../time/subject.ts";
import { hrefHere, parameter } from "../url/location.ts";
import { RestoreButton, RestorePlan } from "../writes/restore.tsx";
import { Gone } from "./gone.tsx";

/** Tab of a record page; the first is the default. */
export interface RecordTab<Told> {
  /** Value in the address. */
  readonly key: string;
  readonly title: string;
  /** Number of items; null if unknown. */
  count?(record: Told): number | null;
  show(record: Told): ComponentChildren;
  /** Kinds that can be created here. */
  readonly makes?: readonly EditedKind[];
  /** API addresses of the tab, for curl; defaults to the record's own. */
  readonly reads?: readonly string[];
  /** Diffs for a comparison, at most three; defaults to the record itself. */
  readonly compares?: readonly DiffOf[];
}

interface RecordPageProps<Told> {
  readonly kind: PagedKind;
  readonly id: string;
  /** Read of the record and its answer. */
  readonly url: string;
  readonly answer: Answer<Told>;
  /** Shown next to the name. */
  about?(record: Told): ComponentChildren;
  /** Actions, shown next to the pin. */
  actions?(record: Told): ComponentChildren;
  /** Tabs except the history, which every record has. */
  readonly tabs: readonly [RecordTab<Told>, ...RecordTab<Told>[]];
  /** Content above the history. */
  beforeHistory?(record: Told): ComponentChildren;
  /** Host that the record belongs to. */
  hostId?(record: Told): string;
}

export function RecordPage<Told extends { readonly id: string }>(props: RecordPageProps<Told>) {
  const { kind, id, url, answer, about, actions, tabs } = props;
  const { data: record, problem, again } = answer;
  const subject = { [entryOf(kind)?.subject ?? "id"]: id };
  useSubject(subject);
  // Instant of the open restore preview; a preview does not apply to another instant.
  const [restoredTo, setRestoredTo] = useState<string | null>(null);
  const tab = tabs.find(({ key }) => key === parameter("tab")) ?? tabs[0];
  const isHistory = parameter("tab") === HISTORY;
  const comparison = useComparison(isHistory ? [] : (tab.compares ?? [{ ids: [id] }]));
  // The time bar reports unreadable instants; a marker may still be loading.
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
    title: "History",
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
              verb="Restore this"
              isOpen={restoredTo === then}
              onOpen={() => setRestoredTo(then)}
            />
          )}
          {then !== null && may(operationOn("update", kind)) && (
            <a class="button" href={hrefHere({ at: null, vs: then })}>
              Restore…
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
        <RestorePlan kind={kind} id={id} at={then} verb="Restore this" onEnd={() => setRestoredTo(null)} />
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

/** Preset values for records created on the page. */
function presetsOf(kind: PagedKind, id: string, record: object): Readonly<Record<string, unknown>> {
  const { network_id } = record as { readonly network_id?: string };
  return { network_id, [`${kind}_id`]: id };
}

/** Tab key of the history. */
export const HISTORY = "history";

/** Pin button, for the list on the start page. */
function Pin({ kind, id }: Pinned) {
  const [problem, setProblem] = useState("");
  const isPinned = pins().some((each) => each.id === id);
  const toggle = () => {
    setProblem("");
    setPinned({ kind, id }, !isPinned).catch((cause: unknown) => setProblem(sentenceOf(asRefusal(cause))));
  };
  if (!may("setPreferences")) return null;
  return (
    <>
      <button type="button" aria-pressed={isPinned} title="Pin to the start page" onClick={toggle}>
        {isPinned ? "Pinned" : "Pin"}
      </button>
      <span class="aside" role="status">
        {problem}
      </span>
    </>
  );
}
