// Filter input for a list in the API's filter grammar, with completions at the caret.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { read } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { useResponse } from "../api/response.ts";
import { ActionButton } from "../components/buttons.tsx";
import { useKeys } from "../components/keys.ts";
import { go, hrefHere } from "../url/location.ts";
import { applyCompletion, completionsOf } from "./completion.ts";

interface FilterFieldProps {
  /** Kind of the listed records. */
  readonly kind: string;
  readonly filter: string;
  /** Example filter for this list. */
  readonly example: string;
  /** Filter error from the API. */
  readonly problem: Refusal | undefined;
}

export function FilterField({ kind, filter, example, problem }: FilterFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(filter);
  const [caret, setCaret] = useState<number | null>(null);
  const [activeIndex, setActiveIndex] = useState(0);
  const { data: fields } = useResponse(read("/api/v1/fields/{kind}", { path: { kind: kind as never } }));
  // A layout effect: after painting, the user may already be typing.
  useLayoutEffect(() => setText(filter), [filter]);
  useKeys([{ key: "f", meaning: "Filter the list", press: () => field.current?.focus() }]);
  const completions = caret === null || fields === undefined ? [] : completionsOf(text, caret, fields);
  const shown = completions.slice(0, COMPLETIONS_MAX);
  const apply = (next: string) => {
    setCaret(null);
    go(hrefHere({ filter: next.trim() === "" ? null : next.trim() }));
  };
  const accept = (position: number) => {
    const completion = shown[position];
    if (completion === undefined || caret === null) return;
    const next = applyCompletion(text, caret, completion);
    const input = field.current;
    if (input !== null) {
      // Updates the input immediately: the next key may arrive before the next render.
      input.value = next.text;
      input.setSelectionRange(next.caret, next.caret);
    }
    setText(next.text);
    setCaret(next.caret);
    setActiveIndex(0);
  };
  const handleKey = (event: KeyboardEvent) => {
    if (event.key === "Escape") setCaret(null);
    if (shown.length === 0) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      setActiveIndex((last) => (last + (event.key === "ArrowDown" ? 1 : shown.length - 1)) % shown.length);
    } else if (event.key === "Tab" && !event.shiftKey) {
      event.preventDefault();
      accept(activeIndex);
    }
  };
  const updateCaret = () => {
    setCaret(field.current?.selectionStart ?? null);
    setActiveIndex(0);
  };
  return (
    <form
      class="filter-field"
      onSubmit={(event) => {
        event.preventDefault();
        apply(text);
      }}
    >
      <label>
        <span class="visually-hidden">Filter</span>
        <input
          ref={field}
          class="mono"
          value={text}
          placeholder={`Filter, such as ${example}`}
          spellcheck={false}
          autoComplete="off"
          role="combobox"
          aria-expanded={shown.length > 0}
          aria-controls="completions"
          aria-autocomplete="list"
          aria-activedescendant={shown.length > 0 ? `completion-${activeIndex}` : undefined}
          aria-invalid={problem !== undefined}
          onInput={(event) => {
            setText(event.currentTarget.value);
            updateCaret();
          }}
          onClick={updateCaret}
          onKeyDown={handleKey}
          onBlur={() => setCaret(null)}
        />
      </label>
      {/* Keeps the focus in the field: without the focus, the layout may have no room for this button. */}
      <button type="submit" onMouseDown={(event) => event.preventDefault()}>
        Apply
      </button>
      {filter !== "" && <ActionButton label="Clear" onClick={() => apply("")} />}
      <div id="completions" role="listbox" aria-label="Completions" hidden={shown.length === 0}>
        {shown.map(({ text: completionText, meaning }, position) => (
          // For mouse users; the field handles the keyboard.
          // biome-ignore lint/a11y/useKeyWithClickEvents: Tab accepts the option
          <div
            key={completionText}
            id={`completion-${position}`}
            role="option"
            tabIndex={-1}
            aria-selected={position === activeIndex}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => accept(position)}
          >
            <span class="mono">{completionText}</span> <span class="aside">{meaning}</span>
          </div>
        ))}
      </div>
      {problem !== undefined && <FilterProblem filter={filter} problem={problem} />}
    </form>
  );
}

const COMPLETIONS_MAX = 12;

/** Filter errors, with their positions marked. */
function FilterProblem({ filter, problem }: { readonly filter: string; readonly problem: Refusal }) {
  return (
    <div class="filter-problem" role="alert">
      {problem.issues.map(({ message, position }) => (
        <p key={message}>
          {position !== undefined && (
            <code>
              {filter.slice(0, position)}
              <mark>{filter.slice(position, position + 1) || " "}</mark>
              {filter.slice(position + 1)}
            </code>
          )}{" "}
          {message}
        </p>
      ))}
    </div>
  );
}
