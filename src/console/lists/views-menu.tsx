// Menu of a list's built-in and saved views. A view is a list URL without its timestamp.

import { useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { ActionButton } from "../components/buttons.tsx";
import { Problem } from "../components/problem.tsx";
import { may } from "../session/me.ts";
import { preferences, setPreference } from "../session/preferences.ts";
import { ownValue } from "../text/own-value.ts";
import { vs } from "../time/at.ts";
import { hrefOf, parameter } from "../url/location.ts";
import type { AnyList } from "./list.ts";
import { type SavedView, savedViews, VIEWS } from "./saved-views.ts";

/** Maximum number of saved views; longer menus are hard to scan. */
const VIEWS_MAX = 30;

export function ViewsMenu({ list }: { readonly list: AnyList }) {
  const [problem, setProblem] = useState<Refusal | null>(null);
  const preference = `${VIEWS}${list.kind}`;
  const saved = savedViews(ownValue(preferences.value, preference));
  const change = (next: (last: readonly SavedView[]) => readonly SavedView[]) => {
    setProblem(null);
    setPreference(preference, (last) => next(savedViews(last))).catch((cause: unknown) => setProblem(asRefusal(cause)));
  };
  const save = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const name = String(new FormData(form).get("name") ?? "").trim();
    if (name === "") return;
    form.reset();
    const view = {
      name,
      filter: parameter("filter") ?? "",
      order: parameter("order") ?? "",
      columns: parameter("columns") ?? "",
    };
    change((last) => [...last.filter((other) => other.name !== name), view].slice(-VIEWS_MAX));
  };
  return (
    <>
      <ActionButton label="Views" popoverTarget="views" />
      <div id="views" popover="auto" class="menu">
        {list.views.length > 0 && (
          <>
            <h2>Built-in</h2>
            <ul>
              {list.views.map(({ name, filter, order }) => (
                <li key={name}>
                  <a href={hrefOf(list.page, { filter, order, vs: vs.value })}>{name}</a>
                </li>
              ))}
            </ul>
          </>
        )}
        <h2>My views</h2>
        {saved.length === 0 && <p class="aside">No saved views.</p>}
        <ul>
          {saved.map(({ name, filter, order, columns }) => (
            <li key={name}>
              <a href={hrefOf(list.page, { filter, order, columns, vs: vs.value })}>{name}</a>{" "}
              {may("setPreferences") && (
                <ActionButton
                  label="×"
                  aria-label={`Remove the view ${name}`}
                  onClick={() => change((last) => last.filter((other) => other.name !== name))}
                />
              )}
            </li>
          ))}
        </ul>
        {may("setPreferences") && (
          <form onSubmit={save}>
            <label>
              View name
              <input name="name" maxLength={60} required autoComplete="off" />
            </label>
            <button type="submit">Save this view</button>
          </form>
        )}
        {problem !== null && <Problem problem={problem} />}
      </div>
    </>
  );
}
