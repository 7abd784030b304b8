// A host, found by what is typed of its name: there are too many to choose from.

import { useId, useRef, useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { nameOf } from "../names/names.ts";
import { endOfId, shownName } from "../names/shown-name.ts";
import { editText } from "../text/editing.ts";
import { choiceOf, hostsRead } from "./choices.ts";
import type { Values } from "./field.ts";

interface FoundHostProps {
  /** The one that is chosen; empty for none. */
  readonly hostId: string;
  /** The record that it is to be a host of: it names the network. */
  readonly record: Values;
  readonly described: Readonly<Record<string, unknown>> & { readonly id: string };
  onFound(id: string): void;
}

export function FoundHost({ hostId, record, described, onFound }: FoundHostProps) {
  const listId = useId();
  const [said, setSaid] = useState<string | null>(null);
  const { data } = useAnswer(said === null ? null : hostsRead(said, record));
  const found = (data ?? []).map(choiceOf).map(({ id, name }) => ({ id, label: `${name} · ${endOfId(id)}` }));
  // What was offered a moment ago can still be chosen: the next answer may be there before the hand is.
  const offered = useRef(new Map<string, string>());
  for (const { id, label } of found) offered.current.set(label, id).set(id, id);
  const type = (text: string) => {
    const chosen = offered.current.get(text) ?? offered.current.get(text.trim());
    setSaid(chosen === undefined ? text : null);
    onFound(chosen ?? "");
  };
  const called = hostId === "" ? "" : shownName(hostId, nameOf("hosts", hostId, null));
  return (
    <>
      <input
        {...described}
        type="text"
        autoComplete="off"
        list={listId}
        placeholder={editText.search}
        value={said ?? called}
        onInput={(event) => type(event.currentTarget.value)}
      />
      <datalist id={listId}>
        {found.map(({ id, label }) => (
          <option key={id} value={label} />
        ))}
      </datalist>
    </>
  );
}
