// Host input that searches by name, since there are too many hosts for a list.

import { useEffect, useId, useRef, useState } from "preact/hooks";
import { useResponse } from "../api/response.ts";
import { nameOf } from "../names/names.ts";
import { endOfId, shownName } from "../names/shown-name.ts";
import { choiceOf, hostSearchRead, hostsByNameRead } from "./choices.ts";
import type { Values } from "./field.ts";

interface HostSearchFieldProps {
  /** Id of the selected host; empty for none. */
  readonly hostId: string;
  /** Record that references the host; determines the network. */
  readonly record: Values;
  readonly described: Readonly<Record<string, unknown>> & { readonly id: string };
  /** Whether each selected host is added to a list; a unique name is then not selected automatically. */
  readonly isAdding?: boolean;
  /** @param id empty if no host is selected @param text the input, which may match no host or several */
  onFound(id: string, text: string): void;
}

export function HostSearchField({ hostId, record, described, isAdding = false, onFound }: HostSearchFieldProps) {
  const listId = useId();
  const hintId = useId();
  const [inputText, setInputText] = useState<string | null>(null);
  const { data, meta, isEarlier, isLoading } = useResponse(
    inputText === null ? null : hostSearchRead(inputText, record),
  );
  const hasMore = !isEarlier && !isLoading && meta?.pagination.has_more === true;
  const exactMatches = useResponse(hasMore && inputText !== null ? hostsByNameRead(inputText, record) : null);
  const exactChoices = hasMore ? (exactMatches.data ?? []).map(choiceOf) : [];
  const choices = [
    ...exactChoices,
    ...(data ?? []).map(choiceOf).filter(({ id }) => !exactChoices.some((choice) => choice.id === id)),
  ];
  const suggestions = choices.map(({ id, name }) => ({ id, label: `${name} · ${endOfId(id)}` }));
  // Earlier suggestions stay selectable: the next response may arrive before the click.
  const offered = useRef(new Map<string, string>());
  for (const { id, label } of suggestions) offered.current.set(label, id).set(id, id);
  const type = (text: string) => {
    const selectedId = offered.current.get(text) ?? offered.current.get(text.trim());
    setInputText(selectedId === undefined ? text : null);
    onFound(selectedId ?? "", text);
  };
  // If exactly one host has the entered name, it is selected automatically.
  const typed = inputText?.trim().toLowerCase() ?? "";
  const sameNamed = choices.filter(({ name }) => name.toLowerCase() === typed);
  const areMatchesLoaded =
    !hasMore || (!exactMatches.isEarlier && !exactMatches.isLoading && exactMatches.data !== undefined);
  const isLoaded = typed !== "" && !isEarlier && !isLoading && data !== undefined && areMatchesLoaded;
  const only = isLoaded && !isAdding && sameNamed.length === 1 ? (sameNamed[0]?.id ?? "") : "";
  useEffect(() => {
    if (only !== "" && hostId === "") onFound(only, inputText ?? "");
  }, [only, hostId, inputText]);
  const isUnresolved = isLoaded && hostId === "" && only === "";
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
        value={inputText ?? shown}
        onInput={(event) => type(event.currentTarget.value)}
      />
      <datalist id={listId}>
        {suggestions.map(({ id, label }) => (
          <option key={id} value={label} />
        ))}
      </datalist>
      <p class="aside" role="status" id={hintId}>
        {isUnresolved &&
          (choices.length === 0
            ? "No host has this name."
            : isAdding
              ? ""
              : "Choose one from the list, or enter its full name.")}
      </p>
    </>
  );
}
