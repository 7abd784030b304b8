// Host input with search by name, since there are too many for a list.

import { useEffect, useId, useRef, useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { nameOf } from "../names/names.ts";
import { endOfId, shownName } from "../names/shown-name.ts";
import { choiceOf, hostsCalledRead, hostsRead } from "./choices.ts";
import type { Values } from "./field.ts";

interface FoundHostProps {
  /** Selected host; empty for none. */
  readonly hostId: string;
  /** Record that references the host; determines the network. */
  readonly record: Values;
  readonly described: Readonly<Record<string, unknown>> & { readonly id: string };
  /** Whether each selected host is added to others; then a unique name is not selected automatically. */
  readonly isAdding?: boolean;
  /** @param id empty for none @param text the input, which may match no host or several */
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
  // Earlier suggestions stay selectable: the next response may arrive before the click.
  const offered = useRef(new Map<string, string>());
  for (const { id, label } of found) offered.current.set(label, id).set(id, id);
  const type = (text: string) => {
    const chosen = offered.current.get(text) ?? offered.current.get(text.trim());
    setSaid(chosen === undefined ? text : null);
    onFound(chosen ?? "", text);
  };
  // A full name that only one host has is selected automatically.
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
        placeholder="Start typing a name"
        value={said ?? shown}
        onInput={(event) => type(event.currentTarget.value)}
      />
      <datalist id={listId}>
        {found.map(({ id, label }) => (
          <option key={id} value={label} />
        ))}
      </datalist>
      <p class="aside" role="status" id={hintId}>
        {isUnclear &&
          (choices.length === 0
            ? "No host is called that."
            : isAdding
              ? ""
              : "Choose one from the list, or type its whole name.")}
      </p>
    </>
  );
}
