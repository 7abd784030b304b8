// Command palette shortcut, `Ctrl-K` or `⌘K`, available everywhere, even in inputs. The palette loads on first use.

import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

type Loaded = ComponentType<{ onClose: (hasLeft: boolean) => void }>;

export function PaletteKey() {
  // Number of the opening; 0 while closed. A dialog reports its closing late, when it may be open again.
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
      // Prevents the browser's own search box.
      event.preventDefault();
      if (document.querySelector("dialog[open]") === null) open();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
  const close = (closed: number, hasLeft: boolean) => {
    if (closed !== last.current) return;
    setOpening(0);
    // Keeps the focus if the chosen entry has moved it.
    if (!hasLeft && document.activeElement === document.body && before.current instanceof HTMLElement)
      before.current.focus();
  };
  return (
    <>
      <button type="button" class="palette-button" aria-keyshortcuts="Control+K" title="Command palette" onClick={open}>
        <kbd>Ctrl-K</kbd>
      </button>
      {isOpen && loaded !== null && <loaded.Palette key={opening} onClose={(hasLeft) => close(opening, hasLeft)} />}
    </>
  );
}
