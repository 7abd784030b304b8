// Value that a click or Enter copies, such as an address or an id.

import type { ComponentChildren } from "preact";
import { useCopying } from "./copy.ts";

interface CopiedProps {
  /** Text to copy, also shown if there are no children. */
  readonly text: string;
  /** Whether to show a visible "Copy" label. */
  readonly hasLabel?: boolean;
  readonly children?: ComponentChildren;
}

export function Copied({ text, hasLabel = false, children }: CopiedProps) {
  const [isCopied, copy] = useCopying();
  return (
    <button type="button" class="copied" title="Copy" onClick={() => void copy(text)}>
      {children ?? text}
      <span class={hasLabel ? "visually-hidden" : "copied-note"} role="status">
        {isCopied ? "Copied" : ""}
      </span>
      {/* Separates the value from the label when the user selects both. */}
      {hasLabel && " "}
      {hasLabel && (
        <span class="copied-offer" aria-hidden="true">
          {isCopied ? "Copied" : "Copy"}
        </span>
      )}
    </button>
  );
}
