// Preferences that the console stores: current value, storage location, and reset with undo.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { ActionButton } from "../components/buttons.tsx";
import { NameLink } from "../components/name-link.tsx";
import { Problem } from "../components/problem.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { ZoneChoice } from "../components/zone-choice.tsx";
import { recentSearches, setSearches } from "../find/recent.ts";
import { DoneNote } from "../forms/done-note.tsx";
import { useNetworks } from "../forms/fields.tsx";
import { isRecordKind, kindTitle, listPageOf } from "../kinds/kinds.ts";
import { savedViews, VIEWS } from "../lists/saved-views.ts";
import { Named } from "../names/named.tsx";
import { may } from "../session/me.ts";
import { PINS, pins } from "../session/pins.ts";
import { preferences, setPreference } from "../session/preferences.ts";
import { groupedDigits } from "../text/digits.ts";
import { ownValue } from "../text/own-value.ts";
import { settingsText } from "../text/settings.ts";
import { timeText } from "../text/time.ts";
import { isPast } from "../time/at.ts";
import { ownZone, setZone, zone } from "../time/zone.ts";
import { chooseRange, DEFAULT_RANGE, range } from "../time-bar/view.ts";
import { NETWORK, readStored, writeStored } from "../url/local-storage.ts";
import { hrefOf } from "../url/location.ts";

/** Restores values removed by a reset. */
type Undo = () => unknown;

interface Preference {
  readonly key: string;
  readonly title: string;
  /** Whether the appliance stores it for the user instead of the browser. */
  readonly isUserWide?: true;
  readonly shown: ComponentChildren;
  /** Whether it has its default value. */
  readonly isDefault: boolean;
  /** @throws Refusal */
  reset(): Promise<Undo> | Undo;
}

interface Reset {
  readonly sentence: string;
  readonly undo: readonly Undo[];
}

export function Preferences() {
  const all = usePreferences();
  const [lastReset, setLastReset] = useState<Reset | null>(null);
  const [problem, setProblem] = useState<Refusal | null>(null);
  const resettable = all.filter(
    ({ isDefault, isUserWide }) => !isDefault && !isPast.value && (!isUserWide || may("setPreferences")),
  );
  const reset = async (selected: readonly Preference[], sentence: string) => {
    setLastReset(null);
    setProblem(null);
    const undo: Undo[] = [];
    try {
      // Sequentially, since all preferences of a user are one document.
      for (const preference of selected) undo.unshift(await preference.reset());
    } catch (cause) {
      setProblem(asRefusal(cause));
    }
    if (undo.length > 0) setLastReset({ sentence, undo });
  };
  const restore = async ({ undo }: Reset) => {
    setLastReset(null);
    try {
      for (const undoReset of undo) await undoReset();
    } catch (cause) {
      setProblem(asRefusal(cause));
    }
  };
  return (
    <section class="part">
      <h2>Preferences</h2>
      {problem !== null && <Problem problem={problem} />}
      {lastReset !== null && (
        <DoneNote
          key={lastReset.sentence}
          sentence={
            <>
              {lastReset.sentence} <ActionButton label="Undo" onClick={() => void restore(lastReset)} />
            </>
          }
          onClose={() => setLastReset(null)}
        />
      )}
      <RowsTable
        title="Preferences"
        className="preferences"
        heads={["Preference", "Value", "Stored", settingsText.actions]}
      >
        {all.map((preference) => (
          <tr key={preference.key}>
            <th scope="row">{preference.title}</th>
            <td>{preference.shown}</td>
            <td>{preference.isUserWide ? "for you, in every browser" : "in this browser"}</td>
            <td>
              {resettable.includes(preference) && (
                <ActionButton
                  label="Reset"
                  aria-label={`Reset: ${preference.title}`}
                  onClick={() => void reset([preference], `Reset: ${preference.title}.`)}
                />
              )}
            </td>
          </tr>
        ))}
      </RowsTable>
      {resettable.length > 1 && (
        <p>
          <ActionButton label="Reset all" onClick={() => void reset(resettable, "All preferences were reset.")} />
        </p>
      )}
    </section>
  );
}

function usePreferences(): readonly Preference[] {
  // Browser storage does not report changes.
  const [lastNetwork, setLastNetwork] = useState(() => readStored(NETWORK));
  const networks = useNetworks();
  const searches = recentSearches();
  const pinned = pins();
  const views = viewsByList();
  const storeNetwork = (id: string | null) => {
    writeStored(NETWORK, id);
    setLastNetwork(id);
  };
  return [
    {
      key: "zone",
      title: "Time zone",
      shown: <ZoneChoice isLabelVisible={false} />,
      isDefault: zone.value === ownZone(),
      reset: () => {
        const previous = zone.peek();
        setZone(ownZone());
        return () => setZone(previous);
      },
    },
    {
      key: "range",
      title: "Range of the time bar",
      shown: timeText.ranges[range.value],
      isDefault: range.value === DEFAULT_RANGE,
      reset: () => {
        const previous = range.peek();
        chooseRange(DEFAULT_RANGE);
        return () => previous !== "custom" && chooseRange(previous);
      },
    },
    ...(networks.length < 2 && lastNetwork === null
      ? []
      : [
          {
            key: "network",
            title: "Default network",
            shown: lastNetwork === null ? "All networks" : <Named kind="network" id={lastNetwork} as={null} />,
            isDefault: lastNetwork === null,
            reset: () => {
              storeNetwork(null);
              return () => storeNetwork(lastNetwork);
            },
          },
        ]),
    {
      key: "recent",
      title: "Recent searches",
      shown: searches.length === 0 ? "none" : <SearchList searches={searches} />,
      isDefault: searches.length === 0,
      reset: () => {
        setSearches([]);
        return () => setSearches(searches);
      },
    },
    {
      key: "pins",
      title: "Pinned",
      isUserWide: true,
      shown:
        pinned.length === 0 ? (
          "none"
        ) : (
          <ShortList items={pinned.map(({ kind, id }) => <Named key={id} kind={kind} id={id} as={null} />)} />
        ),
      isDefault: pinned.length === 0,
      reset: () => resetPreferences([PINS]),
    },
    {
      key: "views",
      title: "Saved views",
      isUserWide: true,
      shown:
        views.length === 0
          ? "none"
          : views.map(({ kind, title, page, saved }) => (
              <div key={kind}>
                {title}:{" "}
                <ShortList
                  items={saved.map(({ name, ...view }) => (
                    <NameLink key={name} href={hrefOf(page, { ...view })} name={name} />
                  ))}
                />
              </div>
            )),
      isDefault: views.length === 0,
      reset: () => resetPreferences(views.map(({ kind }) => `${VIEWS}${kind}`)),
    },
  ];
}

/** Removes preferences of the user. @throws Refusal */
async function resetPreferences(names: readonly string[]): Promise<Undo> {
  const previous = preferences.peek() ?? {};
  for (const name of names) await setPreference(name, () => undefined);
  return async () => {
    for (const name of names) await setPreference(name, () => ownValue(previous, name));
  };
}

/** Saved views by list, for lists with any. */
function viewsByList() {
  return Object.entries(preferences.value ?? {}).flatMap(([name, value]) => {
    const kind = name.slice(VIEWS.length);
    const saved = name.startsWith(VIEWS) ? savedViews(value) : [];
    if (saved.length === 0 || !isRecordKind(kind)) return [];
    return [{ kind, title: kindTitle(kind), page: listPageOf(kind), saved }];
  });
}

/** Longer lists are impractical to read. */
const SHOWN_MAX = 6;

function SearchList({ searches }: { readonly searches: readonly string[] }) {
  return (
    <>
      <ShortList
        items={searches.map((search) => <NameLink key={search} href={hrefOf("/", { q: search })} name={search} />)}
      />{" "}
      <span class="aside">until you sign out</span>
    </>
  );
}

function ShortList({ items }: { readonly items: readonly ComponentChildren[] }) {
  return (
    <>
      {items.slice(0, SHOWN_MAX).map((item, index) => (
        <>
          {index > 0 && ", "}
          {item}
        </>
      ))}
      {items.length > SHOWN_MAX && ` and ${groupedDigits(items.length - SHOWN_MAX)} more`}
    </>
  );
}
