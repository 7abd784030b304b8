// A host, found by what is typed of its name: there are too many to choose from.

import { useEffect, useId, useRef, useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { nameOf } from "../names/names.ts";
import { endOfId, shownName } from "../names/shown-name.ts";
import { editText } from "../text/editing.ts";
import { choiceOf, hostsCalledRead, hostsRead } from "./choices.ts";
import type { Values } from "./field.ts";

interface FoundHostProps {
  /** The one that is chosen; empty for none. */
  readonly hostId: string;
  /** The record that it is to be a host of: it names the network. */
  readonly record: Values;
  readonly described: Readonly<Record<string, unknown>> & { readonly id: string };
  /** Whether each that is found is put beside others: then none is before it is chosen. */
  readonly isAdding?: boolean;
  /** @param id empty for none @param text what was typed, which may be a name of none, or of several */
  onFound(id: string, text: string): void;
}

export function FoundHost({ hostId, record, described, isAdding = false, onFound }: FoundHostProps) {
  const listId = useId();
  const hintId = useId();
  const [said, setSaid] = useState<string | null>(null);
  const { data, meta, isEarlier, isLoading } = useAnswer(said === null ? null : hostsRead(said, record));
  const isCut = !isEarlier && !isLoading && meta?.pagination.has_more === true;
  const named = useAnswer(isCut && said !== null ? hostsCalledRead(said, record) : null);
  const first = isCut ? (named.data ?? []).map(choiceOf) : [];
  const choices = [...first, ...(data ?? []).map(choiceOf).filter(({ id }) => !first.some((each) => each.id === id))];
  const found = choices.map(({ id, name }) => ({ id, label: `${name} · ${endOfId(id)}` }));
  // What was offered a moment ago can still be chosen: the next answer may be there before the hand is.
  const offered = useRef(new Map<string, string>());
  for (const { id, label } of found) offered.current.set(label, id).set(id, id);
  const type = (text: string) => {
    const chosen = offered.current.get(text) ?? offered.current.get(text.trim());
    setSaid(chosen === undefined ? text : null);
    onFound(chosen ?? "", text);
  };
  // A whole name that one host has needs no choice.
  const typed = said?.trim().toLowerCase() ?? "";
  const called = choices.filter(({ name }) => name.toLowerCase() === typed);
  const isNamed = !isCut || (!named.isEarlier && !named.isLoading && named.data !== undefined);
  const isAnswered = typed !== "" && !isEarlier && !isLoading && data !== undefined && isNamed;
  const only = isAnswered && !isAdding && called.length === 1 ? (called[0]?.id ?? "") : "";
  useEffect(() => {
    if (only !== "" && hostId === "") onFound(only, said ?? "");
  }, [only, hostId, said]);
  const isUnclear = isAnswered && hostId === "" && only === "";
  const shown = hostId === "" ? "" : shownName(hostId, nameOf("host", hostId, null));
  return (
    <>
      <input
        {...described}
        aria-describedby={[described["aria-describedby"], hintId].filter(Boolean).join(" ")}
        type="text"
        autoComplete="off"
        list={listId}
        placeholder={editText.search}
        value={said ?? shown}
        onInput={(event) => type(event.currentTarget.value)}
      />
      <datalist id={listId}>
        {found.map(({ id, label }) => (
          <option key={id} value={label} />
        ))}
      </datalist>
      <p class="aside" role="status" id={hintId}>
        {isUnclear && (choices.length === 0 ? editText.noSuchHost : isAdding ? "" : editText.chooseHost)}
      </p>
    </>
  );
}
