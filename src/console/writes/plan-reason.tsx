// Reason for a deviation or failure of a plan: the API's sentence, with record ids replaced by names.

import type { ComponentChildren } from "preact";
import { entryOf, kindWords, operationOnMany, RECORD_KINDS } from "../kinds/kinds.ts";
import { Named } from "../names/named.tsx";
import { may } from "../session/me.ts";

/** API words for the record kinds. */
const WORDS = new Map(RECORD_KINDS.map((kind) => [entryOf(kind)?.apiWord ?? kindWords(kind)[0], kind]));

const NAMED = new RegExp(`\\b(${[...WORDS.keys()].join("|")}) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\\b`, "g");

interface PlanReasonProps {
  readonly text: string;
  /** Instant for resolving names, since records may be gone now; null for now. */
  readonly at: string | null;
}

export function PlanReason({ text, at }: PlanReasonProps) {
  const pieces: ComponentChildren[] = [];
  let end = 0;
  for (const { 0: whole, 1: word = "", 2: id = "", index } of text.matchAll(NAMED)) {
    const kind = WORDS.get(word);
    if (kind === undefined || !may(operationOnMany("list", kind))) continue;
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
