// Summary of a transaction as a sentence. Each record links to its state at that time.

import { RecordLink } from "../names/record-link.tsx";
import { When } from "../parts/when.tsx";
import { changesText } from "../text/changes.ts";
import { groupedDigits } from "../text/digits.ts";
import { formatUtc, parseInstant } from "../time/instant.ts";
import { hrefOf } from "../url/location.ts";
import { type Phrase, type PhrasePiece, phrasesOf } from "./sentences.ts";
import type { TransactionData } from "./transaction-data.ts";

interface SentenceProps {
  readonly transaction: TransactionData;
  /** Host of the page, whose name is omitted. */
  readonly hostId?: string | undefined;
  /** Maximum number of phrases; the rest is counted. */
  readonly phrases?: number;
}

export function Sentence({ transaction, hostId, phrases: most = 5 }: SentenceProps) {
  const { at, changes, highlights } = transaction;
  const phrases = highlights === undefined ? [] : phrasesOf(highlights, hostId);
  if (phrases.length === 0) return <>{changesText.counts(changes)}</>;
  // A single remaining phrase is written out instead of counted.
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
          {" and "}
          {`${groupedDigits(left)} more ${left === 1 ? "change" : "changes"}`}
        </span>
      )}
    </>
  );
}

/** All phrases as a list. */
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
      // Instants of transactions are unique: one millisecond before, the removed record still existed.
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
