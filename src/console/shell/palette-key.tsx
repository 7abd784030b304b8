// Command palette shortcut, `Ctrl-K` or `⌘K`, which works everywhere, even in inputs. The palette loads on first use.

import type { ComponentType } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

type PaletteComponent = ComponentType<{ onClose: (hasNavigated: boolean) => void }>;

export function PaletteKey() {
  // Number of the current opening; 0 while closed. A dialog reports its closing late, when it may be open again.
  const [opening, setOpening] = useState(0);
  const lastOpening = useRef(0);
  const [loaded, setLoaded] = useState<{ readonly Palette: PaletteComponent } | null>(null);
  const focusedBefore = useRef<Element | null>(null);
  const open = () => {
    focusedBefore.current = document.activeElement;
    lastOpening.current += 1;
    setOpening(lastOpening.current);
  };
  const isOpen = opening > 0;
  useEffect(() => {
    if (isOpen && loaded === null)
      import("./palette.tsx").then(
        ({ Palette }) => setLoaded({ Palette }),
        () => setOpening(0),
      );
  }, [isOpen]);
  // Before the first paint: the key works as soon as the page is visible.
  useLayoutEffect(() => {
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
  const close = (closedOpening: number, hasNavigated: boolean) => {
    if (closedOpening !== lastOpening.current) return;
    setOpening(0);
    // Leaves the focus alone if the chosen entry has moved it.
    if (!hasNavigated && document.activeElement === document.body && focusedBefore.current instanceof HTMLElement)
      focusedBefore.current.focus();
  };
  return (
    <>
      <button type="button" class="palette-button" aria-keyshortcuts="Control+K" title="Command palette" onClick={open}>
        <kbd>Ctrl-K</kbd>
      </button>
      {isOpen && loaded !== null && (
        <loaded.Palette key={opening} onClose={(hasNavigated) => close(opening, hasNavigated)} />
      )}
    </>
  );
}
