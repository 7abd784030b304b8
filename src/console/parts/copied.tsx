// A value that is taken along: an address, an id. Copied with a click or with Enter.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { partText } from "../text/frame.ts";
import { copyText } from "./copy.ts";

const SHOWN_MS = 1_500;

interface CopiedProps {
  /** What is copied; shown too where there is nothing inside. */
  readonly text: string;
  /** Whether it is there to be copied, and says so. */
  readonly isOffered?: boolean;
  readonly children?: ComponentChildren;
}

export function Copied({ text, isOffered = false, children }: CopiedProps) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    if (!(await copyText(text))) return;
    setCopied(true);
    setTimeout(setCopied, SHOWN_MS, false);
  };
  return (
    <button type="button" class="copied" title={partText.copy} onClick={() => void copy()}>
      {children ?? text}
      <span class={isOffered ? "unseen" : "copied-note"} role="status">
        {isCopied ? partText.copied : ""}
      </span>
      {/* Whoever selects it by hand has it apart from the word behind it. */}
      {isOffered && " "}
      {isOffered && (
        <span class="copied-offer" aria-hidden="true">
          {isCopied ? partText.copied : partText.copy}
        </span>
      )}
    </button>
  );
}
