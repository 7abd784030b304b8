// Value to copy, such as an address or an id, by click or Enter.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { copyText } from "./copy.ts";

const SHOWN_MS = 1_500;

interface CopiedProps {
  /** Text to copy, also shown if there are no children. */
  readonly text: string;
  /** Whether to show a copy label. */
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
    <button type="button" class="copied" title="Copy" onClick={() => void copy()}>
      {children ?? text}
      <span class={isOffered ? "unseen" : "copied-note"} role="status">
        {isCopied ? "Copied" : ""}
      </span>
      {/* Separates the value from the label in a manual selection. */}
      {isOffered && " "}
      {isOffered && (
        <span class="copied-offer" aria-hidden="true">
          {isCopied ? "Copied" : "Copy"}
        </span>
      )}
    </button>
  );
}
