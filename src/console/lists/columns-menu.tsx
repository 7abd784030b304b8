// Column chooser of a list. Columns keep the list's order.

import { fieldTitle } from "../names/custom-fields.ts";
import { isPast } from "../time/at.ts";
import { go } from "../url/location.ts";
import type { AnyList } from "./list.ts";
import { hrefWithColumns } from "./list-state.ts";

export function ColumnsMenu({ list, shown }: { readonly list: AnyList; readonly shown: readonly string[] }) {
  const toggle = (key: string) => {
    const next = list.columns.map((column) => column.key).filter((each) => shown.includes(each) !== (each === key));
    if (next.length > 0) go(hrefWithColumns(list, next), "replace");
  };
  return (
    <>
      <button type="button" popoverTarget="columns">
        Columns
      </button>
      <div id="columns" popover="auto" class="menu columns-menu">
        <fieldset>
          <legend>Columns</legend>
          {list.columns
            .filter(({ isOfNow }) => isOfNow !== true || !isPast.value)
            .map(({ key }) => (
              <label key={key}>
                <input type="checkbox" checked={shown.includes(key)} onChange={() => toggle(key)} /> {fieldTitle(key)}
              </label>
            ))}
        </fieldset>
        <button type="button" onClick={() => go(hrefWithColumns(list, list.shown), "replace")}>
          Standard columns
        </button>
      </div>
    </>
  );
}
