// Settings navigation, shared by all settings pages: grouped links, behind a button on narrow screens.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { hrefOf, pathname } from "../url/location.ts";
import { isInArea, openAreas } from "./areas.ts";

interface SettingsPlaceProps {
  /** Path of the page shown, or of the list that contains its record. */
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
  // Close the menu after navigation.
  useEffect(() => nav.current?.hidePopover(), [path]);
  const groups = openAreas();
  const current = groups.flatMap(({ areas }) => areas).find(({ href }) => isInArea(href, place));
  return (
    <>
      <button type="button" class="settings-button" popoverTarget={ID}>
        {current === undefined ? "Settings" : `Settings: ${current.title}`}
      </button>
      <nav ref={nav} class="settings-areas" aria-label="Settings" id={ID} popover="auto">
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
