// Preferences that the console stores: current value, storage location, and reset with undo.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { recentQuestions, setQuestions } from "../find/recent.ts";
import { Told } from "../forms/done-note.tsx";
import { useNetworks } from "../forms/fields.tsx";
import { isRecordKind, kindTitle, listPageOf } from "../kinds/kinds.ts";
import { savedViews, VIEWS } from "../lists/saved-views.ts";
import { Named } from "../names/named.tsx";
import { Problem } from "../parts/problem.tsx";
import { RowsTable } from "../parts/rows-table.tsx";
import { ZoneChoice } from "../parts/zone-choice.tsx";
import { may } from "../session/me.ts";
import { PINS, pins } from "../session/pins.ts";
import { preferences, setPreference } from "../session/preferences.ts";
import { groupedDigits } from "../text/digits.ts";
import { ownValue } from "../text/own-value.ts";
import { settingsText } from "../text/settings.ts";
import { timeText } from "../text/time.ts";
import { isPast } from "../time/at.ts";
import { ownZone, setZone, zone } from "../time/zone.ts";
import { chooseRange, FIRST_RANGE, range } from "../time-bar/view.ts";
import { keep, kept, NETWORK } from "../url/kept.ts";
import { hrefOf } from "../url/location.ts";

/** Restores values removed by a reset. */
type Undo = () => unknown;

interface Preference {
  readonly key: string;
  readonly title: string;
  /** Whether the appliance stores it for the user, or the browser. */
  readonly isOfUser: boolean;
  readonly shown: ComponentChildren;
  /** Whether it has its default value. */
  readonly isInitial: boolean;
  /** @throws Refusal */
  reset(): Promise<Undo> | Undo;
}

interface Reset {
  readonly sentence: string;
  readonly undo: readonly Undo[];
}

export function Preferences() {
  const all = usePreferences();
  const [told, setTold] = useState<Reset | null>(null);
  const [problem, setProblem] = useState<Refusal | null>(null);
  const resettable = all.filter(
    ({ isInitial, isOfUser }) => !isInitial && !isPast.value && (!isOfUser || may("setPreferences")),
  );
  const reset = async (these: readonly Preference[], sentence: string) => {
    setTold(null);
    setProblem(null);
    const undo: Undo[] = [];
    try {
      // Sequentially, since all preferences of a user are one document.
      for (const each of these) undo.unshift(await each.reset());
    } catch (cause) {
      setProblem(asRefusal(cause));
    }
    if (undo.length > 0) setTold({ sentence, undo });
  };
  const putBack = async ({ undo }: Reset) => {
    setTold(null);
    try {
      for (const each of undo) await each();
    } catch (cause) {
      setProblem(asRefusal(cause));
    }
  };
  return (
    <section class="part">
      <h2>Preferences</h2>
      {problem !== null && <Problem problem={problem} />}
      {told !== null && (
        <Told
          key={told.sentence}
          sentence={
            <>
              {told.sentence}{" "}
              <button type="button" onClick={() => void putBack(told)}>
                Undo
              </button>
            </>
          }
          onClose={() => setTold(null)}
        />
      )}
      <RowsTable title="Preferences" kind="preferences" heads={["What", "Value", "Stored", settingsText.actions]}>
        {all.map((each) => (
          <tr key={each.key}>
            <th scope="row">{each.title}</th>
            <td>{each.shown}</td>
            <td>{each.isOfUser ? "for you, in every browser" : "in this browser"}</td>
            <td>
              {resettable.includes(each) && (
                <button
                  type="button"
                  aria-label={`Reset: ${each.title}`}
                  onClick={() => void reset([each], `Reset: ${each.title}.`)}
                >
                  Reset
                </button>
              )}
            </td>
          </tr>
        ))}
      </RowsTable>
      {resettable.length > 1 && (
        <p>
          <button
            type="button"
            onClick={() => void reset(resettable, "All of them are as they were at the beginning.")}
          >
            Reset all
          </button>
        </p>
      )}
    </section>
  );
}

function usePreferences(): readonly Preference[] {
  // Browser storage does not notify of changes.
  const [lastNetwork, setLastNetwork] = useState(() => kept(NETWORK));
  const networks = useNetworks();
  const questions = recentQuestions();
  const pinned = pins();
  const views = viewsByList();
  const keepNetwork = (id: string | null) => {
    keep(NETWORK, id);
    setLastNetwork(id);
  };
  return [
    {
      key: "zone",
      title: "Time zone",
      isOfUser: false,
      shown: <ZoneChoice isNamed={false} />,
      isInitial: zone.value === ownZone(),
      reset: () => {
        const before = zone.peek();
        setZone(ownZone());
        return () => setZone(before);
      },
    },
    {
      key: "range",
      title: "Range of the time bar",
      isOfUser: false,
      shown: timeText.ranges[range.value],
      isInitial: range.value === FIRST_RANGE,
      reset: () => {
        const before = range.peek();
        chooseRange(FIRST_RANGE);
        return () => before !== "custom" && chooseRange(before);
      },
    },
    ...(networks.length < 2 && lastNetwork === null
      ? []
      : [
          {
            key: "network",
            title: "Default network",
            isOfUser: false,
            shown: lastNetwork === null ? "All networks" : <Named kind="network" id={lastNetwork} as={null} />,
            isInitial: lastNetwork === null,
            reset: () => {
              keepNetwork(null);
              return () => keepNetwork(lastNetwork);
            },
          },
        ]),
    {
      key: "recent",
      title: "Recent searches",
      isOfUser: false,
      shown: questions.length === 0 ? "none" : <Words words={questions} />,
      isInitial: questions.length === 0,
      reset: () => {
        setQuestions([]);
        return () => setQuestions(questions);
      },
    },
    {
      key: "pins",
      title: "Pinned",
      isOfUser: true,
      shown:
        pinned.length === 0 ? (
          "none"
        ) : (
          <Several items={pinned.map(({ kind, id }) => <Named key={id} kind={kind} id={id} as={null} />)} />
        ),
      isInitial: pinned.length === 0,
      reset: () => resetOfUser([PINS]),
    },
    {
      key: "views",
      title: "Saved views",
      isOfUser: true,
      shown:
        views.length === 0
          ? "none"
          : views.map(({ kind, title, page, saved }) => (
              <div key={kind}>
                {title}:{" "}
                <Several
                  items={saved.map(({ name, ...view }) => (
                    <a key={name} href={hrefOf(page, { ...view })}>
                      <bdi>{name}</bdi>
                    </a>
                  ))}
                />
              </div>
            )),
      isInitial: views.length === 0,
      reset: () => resetOfUser(views.map(({ kind }) => `${VIEWS}${kind}`)),
    },
  ];
}

/** Removes preferences of the user. @throws Refusal */
async function resetOfUser(names: readonly string[]): Promise<Undo> {
  const before = preferences.peek() ?? {};
  for (const name of names) await setPreference(name, () => undefined);
  return async () => {
    for (const name of names) await setPreference(name, () => ownValue(before, name));
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

function Words({ words }: { readonly words: readonly string[] }) {
  return (
    <>
      <Several
        items={words.map((each) => (
          <a key={each} href={hrefOf("/", { q: each })}>
            <bdi>{each}</bdi>
          </a>
        ))}
      />{" "}
      <span class="aside">until you sign out</span>
    </>
  );
}

function Several({ items }: { readonly items: readonly ComponentChildren[] }) {
  return (
    <>
      {items.slice(0, SHOWN_MAX).map((item, position) => (
        <>
          {position > 0 && ", "}
          {item}
        </>
      ))}
      {items.length > SHOWN_MAX && ` and ${groupedDigits(items.length - SHOWN_MAX)} more`}
    </>
  );
}
