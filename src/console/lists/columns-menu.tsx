// Column chooser of a list. Columns stay in the list's order.

import { ActionButton } from "../components/buttons.tsx";
import { fieldTitle } from "../names/custom-fields.ts";
import { isPast } from "../time/at.ts";
import { go } from "../url/location.ts";
import type { AnyList } from "./list.ts";
import { hrefWithColumns } from "./list-state.ts";

export function ColumnsMenu({ list, shown }: { readonly list: AnyList; readonly shown: readonly string[] }) {
  const toggle = (key: string) => {
    const next = list.columns.map((column) => column.key).filter((other) => shown.includes(other) !== (other === key));
    if (next.length > 0) go(hrefWithColumns(list, next), "replace");
  };
  return (
    <>
      <ActionButton label="Columns" popoverTarget="columns" />
      <div id="columns" popover="auto" class="menu columns-menu">
        <fieldset>
          <legend>Columns</legend>
          {list.columns
            .filter(({ isPresentOnly }) => isPresentOnly !== true || !isPast.value)
            .map(({ key }) => (
              <label key={key}>
                <input type="checkbox" checked={shown.includes(key)} onChange={() => toggle(key)} /> {fieldTitle(key)}
              </label>
            ))}
        </fieldset>
        <ActionButton label="Default columns" onClick={() => go(hrefWithColumns(list, list.shown), "replace")} />
      </div>
    </>
  );
}
