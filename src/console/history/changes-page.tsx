// Changes page: transactions, newest first, filtered by kind, actor, reason or expression; and the most active records.

import { useLayoutEffect, useRef } from "preact/hooks";
import { REASON_MAX_LENGTH } from "#limits";
import { LinkButton } from "../components/buttons.tsx";
import { Page } from "../components/page.tsx";
import { Select } from "../components/select.tsx";
import { Tabs } from "../components/tabs.tsx";
import { changesText } from "../text/changes.ts";
import { at, network } from "../time/at.ts";
import { go, hrefHere, parameter } from "../url/location.ts";
import { ActivityLists } from "./activity-lists.tsx";
import { KindOptions } from "./kind-options.tsx";
import { Transactions, type TransactionsQuery, transactionsRead } from "./transactions.tsx";

const TABS = [
  { key: "feed", title: "Feed" },
  { key: "activity", title: "Activity" },
];

export function ChangesPage() {
  const tab = parameter("tab") === "activity" ? "activity" : "feed";
  const query = feedQuery();
  return (
    <Page title="Changes" reads={tab === "feed" ? [transactionsRead(query).url] : []}>
      <Tabs tabs={TABS} shown={tab} first="feed" />
      {tab === "activity" ? (
        <ActivityLists />
      ) : (
        <>
          <FeedFilter />
          <Transactions filter={query} />
        </>
      )}
    </Page>
  );
}

/** Query from the URL. */
function feedQuery(): TransactionsQuery {
  const [types, actor, reason, filter] = ["types", "actor", "reason", "filter"].map(parameter);
  return {
    ...(at.value === null ? {} : { at: at.value }),
    ...(network.value === null ? {} : { network_id: network.value }),
    ...(types ? { types: types.split(",") } : {}),
    ...(actor ? { actor_type: [actor] } : {}),
    ...(reason ? { reason } : {}),
    ...(filter ? { filter } : {}),
  } as TransactionsQuery;
}

/** URL parameters, named like the form fields. */
const FIELDS = ["types", "actor", "reason", "filter"];

function FeedFilter() {
  const form = useRef<HTMLFormElement>(null);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(data.get(name) ?? "").trim() || null;
    go(hrefHere({ types: text("types"), actor: text("actor"), reason: text("reason"), filter: text("filter") }));
  };
  const values = FIELDS.map((name) => parameter(name) ?? "");
  // A new URL resets the fields without recreating them, so that the focus stays.
  useLayoutEffect(() => {
    for (const [index, name] of FIELDS.entries()) {
      const field = form.current?.elements.namedItem(name);
      if (field instanceof HTMLInputElement) field.value = values[index] ?? "";
      if (!(field instanceof HTMLSelectElement)) continue;
      field.value = values[index] ?? "";
      // Only a URL can list several kinds, for which there is no option.
      if (field.selectedIndex < 0) field.selectedIndex = 0;
    }
  }, [values.join("\n")]);
  return (
    <form ref={form} class="feed-filter" onSubmit={submit}>
      <label>
        Kinds
        <select name="types">
          <KindOptions />
        </select>
      </label>
      <label>
        Who
        <Select name="actor" choices={[["", "Anyone"], ...Object.entries(changesText.actors)]} />
      </label>
      <label>
        Reason contains
        <input name="reason" maxLength={REASON_MAX_LENGTH} autoComplete="off" />
      </label>
      <label class="grows">
        Filter
        <input
          name="filter"
          class="mono"
          maxLength={4000}
          autoComplete="off"
          spellcheck={false}
          placeholder={'Filter, such as command : "host" AND reason:*'}
        />
      </label>
      <button type="submit">Apply</button>
      {values.some((value) => value !== "") && (
        <LinkButton href={hrefHere({ types: null, actor: null, reason: null, filter: null })} label="Clear" />
      )}
    </form>
  );
}
