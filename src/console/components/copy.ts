// Clipboard access that also works over plain HTTP on a LAN address, where browsers have no clipboard API.

import { useState } from "preact/hooks";

/** Time until a confirmation disappears. */
const SHOWN_MS = 1_500;

/** @returns whether text was copied just now, and a function that copies text */
export function useCopying(): readonly [isCopied: boolean, copy: (text: string) => Promise<void>] {
  const [isCopied, setCopied] = useState(false);
  const copy = async (text: string) => {
    if (!(await copyText(text))) return;
    setCopied(true);
    setTimeout(setCopied, SHOWN_MS, false);
  };
  return [isCopied, copy];
}

/** @returns whether the text was copied */
export async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard !== undefined) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Denied by the browser; fall through to the selection.
    }
  }
  return copySelected(text);
}

function copySelected(text: string): boolean {
  const focused = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.readOnly = true;
  field.className = "copy-field";
  // While a modal dialog is open, nothing outside it can be selected.
  (focused?.closest("dialog") ?? document.body).append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}
