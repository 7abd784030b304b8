// Record page frame: loading, failed and missing states; name, pin, tabs, and the history as the last tab.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import { type ApiResponse, Unsettled } from "../api/response.ts";
import { LinkButton } from "../components/buttons.tsx";
import { Page } from "../components/page.tsx";
import { Problem, sentenceOf } from "../components/problem.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { Tabs } from "../components/tabs.tsx";
import { EditButton, EditSlot, NewButton } from "../editing/edit-slot.tsx";
import {
  ComparisonList,
  type DiffScope,
  MatchingComparison,
  useComparison,
  WithComparison,
} from "../history/comparison.tsx";
import { Transactions, transactionsRead } from "../history/transactions.tsx";
import { capital, type EditedKind, entryOf, kindWords, operationOn, type PagedKind } from "../kinds/kinds.ts";
import { headingOf } from "../names/display-name.ts";
import { RestoreButton, RestorePlan } from "../plans/restore.tsx";
import { may } from "../session/me.ts";
import { type Pinned, pins, setPinned } from "../session/pins.ts";
import { at, atMs, atQuery, isPast, vs } from "../time/at.ts";
import { useSubject } from "../time/subject.ts";
import { hrefHere, parameter } from "../url/location.ts";
import { MissingRecord } from "./missing-record.tsx";

/** Tab of a record page; the first is the default. */
export interface RecordTab<RecordType> {
  /** Value in the URL. */
  readonly key: string;
  readonly title: string;
  /** Number of items; null if unknown. */
  count?(record: RecordType): number | null;
  show(record: RecordType): ComponentChildren;
  /** Kinds that can be created here. */
  readonly creates?: readonly EditedKind[];
  /** API URLs of the tab, for "Copy as curl"; defaults to the record's own. */
  readonly reads?: readonly string[];
  /** Scopes to compare, at most three; defaults to the record itself. */
  readonly compares?: readonly DiffScope[];
}

interface RecordPageProps<RecordType> {
  readonly kind: PagedKind;
  readonly id: string;
  /** Request for the record and its response. */
  readonly url: string;
  readonly response: ApiResponse<RecordType>;
  /** Content next to the name. */
  about?(record: RecordType): ComponentChildren;
  /** Actions next to the pin. */
  actions?(record: RecordType): ComponentChildren;
  /** Tabs except the history, which every record has. */
  readonly tabs: readonly [RecordTab<RecordType>, ...RecordTab<RecordType>[]];
  /** Content above the history. */
  beforeHistory?(record: RecordType): ComponentChildren;
  /** Host that the record belongs to. */
  hostId?(record: RecordType): string;
}

export function RecordPage<RecordType extends { readonly id: string }>(props: RecordPageProps<RecordType>) {
  const { kind, id, url, response, about, actions, tabs } = props;
  const { data: record, problem, retry } = response;
  const subject = { [entryOf(kind)?.subject ?? "id"]: id };
  useSubject(subject);
  // Instant of the open restore preview, which does not apply to other timestamps.
  const [previewInstant, setPreviewInstant] = useState<string | null>(null);
  const tab = tabs.find(({ key }) => key === parameter("tab")) ?? tabs[0];
  const isHistory = parameter("tab") === HISTORY;
  const comparison = useComparison(isHistory ? [] : (tab.compares ?? [{ ids: [id] }]));
  // The time bar reports an unreadable timestamp; a marker may still be loading.
  const isInstant = !isPast.value || atMs.value !== null;
  const isRejected = problem?.status === 400 && record === undefined;
  if (problem?.status === 404 || (isRejected && isInstant)) return <MissingRecord kind={kind} id={id} />;
  const [word] = kindWords(kind);
  if (record === undefined)
    return (
      <Page title={capital(word)}>
        <ResponseState problem={problem} retry={retry} />
      </Page>
    );
  const name = headingOf(kind, record);
  const transactions = { ...subject, ...atQuery() };
  const history: RecordTab<RecordType> = {
    key: HISTORY,
    title: "History",
    show: (shownRecord) => (
      <>
        {props.beforeHistory?.(shownRecord)}
        <Transactions filter={transactions} hostId={props.hostId?.(shownRecord)} />
      </>
    ),
    reads: [transactionsRead(transactions).url],
  };
  const shownInstant = isPast.value && vs.value === null ? at.value : null;
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
          {shownInstant !== null && (
            <RestoreButton
              key={shownInstant}
              kind={kind}
              label="Restore this"
              isOpen={previewInstant === shownInstant}
              onOpen={() => setPreviewInstant(shownInstant)}
            />
          )}
          {shownInstant !== null && may(operationOn("update", kind)) && (
            <LinkButton href={hrefHere({ at: null, vs: shownInstant })} label="Restore…" />
          )}
          <Pin kind={kind} id={id} />
          {actions?.(record)}
        </>
      }
    >
      {problem !== undefined && <Problem problem={problem} retry={retry} />}
      <EditSlot ownRecord={{ kind, id, name }} presets={presetsOf(kind, id, record)} onSaved={retry} />
      {shownInstant !== null && previewInstant === shownInstant && (
        <RestorePlan kind={kind} id={id} at={shownInstant} label="Restore this" onEnd={() => setPreviewInstant(null)} />
      )}
      <Tabs
        tabs={all.map(({ key, title, count }) => ({ key, title, count: count?.(record) ?? null }))}
        shown={shown.key}
        first={tabs[0].key}
      />
      <WithComparison comparison={comparison}>
        <ComparisonList ownKind={!isHistory && tab === tabs[0] ? kind : undefined} />
        {shown.creates !== undefined && (
          <p class="record-makes">
            {shown.creates.map((created) => (
              <NewButton key={created} kind={created} />
            ))}
          </p>
        )}
        <MatchingComparison isEarlier={response.isEarlier}>
          <Unsettled.Provider value={response.isEarlier}>{shown.show(record)}</Unsettled.Provider>
        </MatchingComparison>
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
  const isPinned = pins().some((pin) => pin.id === id);
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
