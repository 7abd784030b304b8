// What stands beside every page of the settings, and stays where it is from one to the next: the list of them in groups,
// behind a button where there is no room.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { settingsText } from "../text/settings.ts";
import { hrefOf, pathname } from "../url/location.ts";
import { isInArea, openAreas } from "./areas.ts";

interface SettingsPlaceProps {
  /** Where the page that is shown belongs: its path, or that of the list that has its record. */
  readonly place: string;
  readonly children: ComponentChildren;
}

export function SettingsPlace({ place, children }: SettingsPlaceProps) {
  return (
    <div class="settings">
      <Areas place={place} />
      <div class="settings-page">{children}</div>
    </div>
  );
}

const ID = "settings-areas";

function Areas({ place }: { readonly place: string }) {
  const nav = useRef<HTMLElement>(null);
  const path = pathname.value;
  // Whoever has gone to another page has chosen.
  useEffect(() => nav.current?.hidePopover(), [path]);
  const groups = openAreas();
  const current = groups.flatMap(({ areas }) => areas).find(({ href }) => isInArea(href, place));
  return (
    <>
      <button type="button" class="settings-button" popoverTarget={ID}>
        {current === undefined ? settingsText.title : settingsText.areaOf(current.title)}
      </button>
      <nav ref={nav} class="settings-areas" aria-label={settingsText.title} id={ID} popover="auto">
        {groups.map(({ key, title, areas }) => (
          <div key={key}>
            <p id={`settings-${key}`}>{title}</p>
            <ul aria-labelledby={`settings-${key}`}>
              {areas.map(({ href, title: area }) => (
                <li key={href}>
                  <a
                    href={hrefOf(href)}
                    aria-current={isInArea(href, place) ? (path === href ? "page" : "true") : undefined}
                  >
                    {area}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
    </>
  );
}
