// What a transaction changed, as a sentence: every record in it is a link to what it was then.

import { RecordLink } from "../names/record-link.tsx";
import { When } from "../parts/when.tsx";
import { changesText } from "../text/changes.ts";
import { sentenceText } from "../text/sentences.ts";
import { formatUtc, parseInstant } from "../time/instant.ts";
import { hrefOf } from "../url/location.ts";
import { type Phrase, type PhrasePiece, phrasesOf } from "./sentences.ts";
import type { TransactionData } from "./transaction-data.ts";

interface SentenceProps {
  readonly transaction: TransactionData;
  /** Of a page about this host: its name is left out. */
  readonly hostId?: string | undefined;
  /** Phrases at most; the others are counted. */
  readonly phrases?: number;
}

export function Sentence({ transaction, hostId, phrases: most = 5 }: SentenceProps) {
  const { at, changes, highlights } = transaction;
  const phrases = highlights === undefined ? [] : phrasesOf(highlights, hostId);
  if (phrases.length === 0) return <>{changesText.counts(changes)}</>;
  // One more is said rather than counted.
  const shown = phrases.slice(0, phrases.length === most + 1 ? most + 1 : most);
  const left = phrases.slice(shown.length).reduce((sum, { count }) => sum + count, 0);
  return (
    <>
      {shown.map((phrase, place) => (
        <span key={place} class="phrase">
          {place > 0 && "; "}
          <Pieces phrase={phrase} at={at} />
        </span>
      ))}
      {left > 0 && (
        <span class="aside">
          {sentenceText.and}
          {sentenceText.moreChanges(left)}
        </span>
      )}
    </>
  );
}

/** All phrases, one below the other. */
export function SentenceList({ transaction: { at, highlights } }: Pick<SentenceProps, "transaction">) {
  const phrases = highlights === undefined ? [] : phrasesOf(highlights);
  if (phrases.length === 0) return null;
  return (
    <ul class="phrases">
      {phrases.map((phrase, place) => (
        <li key={place}>
          <Pieces phrase={phrase} at={at} />
        </li>
      ))}
    </ul>
  );
}

function Pieces({ phrase: { pieces }, at }: { readonly phrase: Phrase; readonly at: string }) {
  return (
    <>
      {pieces.map((piece, place) => (
        <PieceShown key={place} piece={piece} at={at} />
      ))}
    </>
  );
}

function PieceShown({ piece, at }: { readonly piece: PhrasePiece; readonly at: string }) {
  if (typeof piece === "string") return <>{piece}</>;
  switch (piece.piece) {
    case "mac":
      return (
        <a href={hrefOf("/", { q: piece.mac, at })} class="mono">
          {piece.mac}
        </a>
      );
    case "value":
      return (
        <span class={`told-${piece.side}`}>
          {/^\d{4}-\d\d-\d\dT/.test(piece.value) ? <When instant={piece.value} /> : <bdi>{piece.value}</bdi>}
        </span>
      );
    case "record": {
      const { type, id, name, isGone } = piece;
      // No two transactions have one instant: the millisecond before, what is gone was still there.
      const then = isGone === true ? formatUtc((parseInstant(at) ?? 0) - 1) : at;
      if (type === "ip_address" && name !== null)
        return (
          <a href={hrefOf("/", { q: name, at: then })}>
            <bdi>{name}</bdi>
          </a>
        );
      return <RecordLink type={type} id={id} name={name} at={then} />;
    }
  }
}
