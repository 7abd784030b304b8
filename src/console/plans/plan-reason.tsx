// Reason why a plan skips or rejects a change: the API's sentence, with record names in place of ids.

import type { ComponentChildren } from "preact";
import { entryOf, kindWords, operationOnMany, RECORD_KINDS } from "../kinds/kinds.ts";
import { Named } from "../names/named.tsx";
import { may } from "../session/me.ts";

/** Record kinds by the API's word for them. */
const WORDS = new Map(RECORD_KINDS.map((kind) => [entryOf(kind)?.apiWord ?? kindWords(kind)[0], kind]));

const REFERENCE = new RegExp(
  `\\b(${[...WORDS.keys()].join("|")}) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\\b`,
  "g",
);

/** @param at timestamp at which names are looked up, since records may be deleted now; null for now */
export function PlanReason({ text, at }: { readonly text: string; readonly at: string | null }) {
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (const { 0: match, 1: word = "", 2: id = "", index } of text.matchAll(REFERENCE)) {
    const kind = WORDS.get(word);
    if (kind === undefined || !may(operationOnMany("list", kind))) continue;
    parts.push(text.slice(end, index), `${word} `, <Named key={index} kind={kind} id={id} as={at} />);
    end = index + match.length;
  }
  return (
    <>
      {parts}
      {text.slice(end)}
    </>
  );
}
