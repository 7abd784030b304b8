// Why a plan does something else, or cannot be done: the API's sentence, in which records that it knows by their ids alone
// are called by their names.

import type { ComponentChildren } from "preact";
import type { RecordKind } from "../kinds/kinds.ts";
import { Named } from "../names/named.tsx";
import { ownValue } from "../text/own-value.ts";

/** The kinds that the API names in its sentences. */
const WORDS: Readonly<Record<string, RecordKind>> = {
  host: "host",
  network: "network",
  subnet: "subnet",
  VLAN: "vlan",
  "interface entry": "if_entry",
  port: "port",
  tag: "tag",
  credential: "credential",
};

const NAMED = new RegExp(`\\b(${Object.keys(WORDS).join("|")}) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\\b`, "g");

interface PlanReasonProps {
  readonly text: string;
  /** The instant as of which records have their names: they may be gone now; null for now. */
  readonly at: string | null;
}

export function PlanReason({ text, at }: PlanReasonProps) {
  const pieces: ComponentChildren[] = [];
  let end = 0;
  for (const { 0: whole, 1: word = "", 2: id = "", index } of text.matchAll(NAMED)) {
    const kind = ownValue(WORDS, word);
    if (kind === undefined) continue;
    pieces.push(text.slice(end, index), `${word} `, <Named key={index} kind={kind} id={id} as={at} />);
    end = index + whole.length;
  }
  return (
    <>
      {pieces}
      {text.slice(end)}
    </>
  );
}
