// `Ctrl-K`, or `⌘K`: opens the command palette, wherever one is and whatever one types. It is loaded when it is first
// opened.

import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { paletteText } from "../text/palette.ts";

type Loaded = ComponentType<{ onClose: (hasLeft: boolean) => void }>;

export function PaletteKey() {
  // Which opening it is; 0 while it is closed. A dialog tells late that it was closed: by then it may be open again.
  const [opening, setOpening] = useState(0);
  const last = useRef(0);
  const [loaded, setLoaded] = useState<{ readonly Palette: Loaded } | null>(null);
  const before = useRef<Element | null>(null);
  const open = () => {
    before.current = document.activeElement;
    last.current += 1;
    setOpening(last.current);
  };
  const isOpen = opening > 0;
  useEffect(() => {
    if (isOpen && loaded === null)
      import("./palette.tsx").then(
        ({ Palette }) => setLoaded({ Palette }),
        () => setOpening(0),
      );
  }, [isOpen]);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isKey =
        (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k";
      if (!isKey || event.isComposing) return;
      // The browser's own box for searches.
      event.preventDefault();
      if (document.querySelector("dialog[open]") === null) open();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
  const close = (closed: number, hasLeft: boolean) => {
    if (closed !== last.current) return;
    setOpening(0);
    // Where what was chosen has taken the focus, it stays there.
    if (!hasLeft && document.activeElement === document.body && before.current instanceof HTMLElement)
      before.current.focus();
  };
  return (
    <>
      <button
        type="button"
        class="palette-button"
        aria-keyshortcuts="Control+K"
        title={paletteText.open}
        onClick={open}
      >
        <kbd>Ctrl-K</kbd>
      </button>
      {isOpen && loaded !== null && <loaded.Palette key={opening} onClose={(hasLeft) => close(opening, hasLeft)} />}
    </>
  );
}
