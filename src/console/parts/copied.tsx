// A value that is taken along: an address, an id. Copied with a click or with Enter.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { partText } from "../text/frame.ts";
import { copyText } from "./copy.ts";

const SHOWN_MS = 1_500;

/** @param text what is copied; shown too where there is nothing inside */
export function Copied({ text, children }: { readonly text: string; readonly children?: ComponentChildren }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    if (!(await copyText(text))) return;
    setCopied(true);
    setTimeout(setCopied, SHOWN_MS, false);
  };
  return (
    <button type="button" class="copied" title={partText.copy} onClick={() => void copy()}>
      {children ?? text}
      <span class="copied-note" role="status">
        {isCopied ? partText.copied : ""}
      </span>
    </button>
  );
}
