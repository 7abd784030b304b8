// Navigation next to the content, or behind a button in small windows.

import { useEffect, useRef } from "preact/hooks";
import { hrefOf, pathname } from "../url/location.ts";
import { isPageWithin, NAVIGATION, sectionOf } from "./pages.tsx";

export function Navigation() {
  const nav = useRef<HTMLElement>(null);
  const path = pathname.value;
  const section = sectionOf(path);
  // Navigating to another page closes the menu.
  useEffect(() => nav.current?.hidePopover(), [path]);
  return (
    <nav ref={nav} class="rail" aria-label="Pages" id="pages" popover="auto">
      {NAVIGATION.map((group) => (
        <ul key={group[0]?.href}>
          {group.map(({ href, title, isExternal }) => (
            <li key={href}>
              <a
                href={isExternal === true ? href : hrefOf(href)}
                aria-current={isPageWithin(href, section) ? (path === href ? "page" : "true") : undefined}
              >
                {title}
              </a>
            </li>
          ))}
        </ul>
      ))}
    </nav>
  );
}
