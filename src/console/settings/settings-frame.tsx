// Settings navigation, shared by all settings pages: grouped links, behind a button on narrow screens.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { hrefOf, pathname } from "../url/location.ts";
import { isInArea, openAreas } from "./areas.ts";

interface SettingsFrameProps {
  /** Path of the page shown, or of the list that contains its record. */
  readonly section: string;
  readonly children: ComponentChildren;
}

export function SettingsFrame({ section, children }: SettingsFrameProps) {
  return (
    <div class="settings">
      <Areas section={section} />
      <div class="settings-page">{children}</div>
    </div>
  );
}

const NAV_ID = "settings-areas";

function Areas({ section }: { readonly section: string }) {
  const nav = useRef<HTMLElement>(null);
  const path = pathname.value;
  // Close the menu after navigation.
  useEffect(() => nav.current?.hidePopover(), [path]);
  const areas = openAreas();
  const current = areas.find(({ href }) => isInArea(href, section));
  return (
    <>
      <button type="button" class="settings-button" popoverTarget={NAV_ID}>
        {current === undefined ? "Settings" : `Settings: ${current.title}`}
      </button>
      <nav ref={nav} class="settings-areas" aria-label="Settings" id={NAV_ID} popover="auto">
        {[...Map.groupBy(areas, ({ group }) => group)].map(([group, areasOfGroup]) => (
          <div key={group}>
            <p id={`settings-${group.toLowerCase()}`}>{group}</p>
            <ul aria-labelledby={`settings-${group.toLowerCase()}`}>
              {areasOfGroup.map(({ href, title }) => (
                <li key={href}>
                  <a
                    href={hrefOf(href)}
                    aria-current={isInArea(href, section) ? (path === href ? "page" : "true") : undefined}
                  >
                    {title}
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
