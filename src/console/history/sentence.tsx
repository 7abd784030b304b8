// Summary of a transaction in a sentence. Each record links to its state at that time.

import type { DataOf } from "../api/client.ts";
import { NameLink } from "../components/name-link.tsx";
import { When } from "../components/when.tsx";
import { RecordLink } from "../names/record-link.tsx";
import { changesText } from "../text/changes.ts";
import { groupedDigits } from "../text/digits.ts";
import { formatUtc, parseInstant } from "../time/instant.ts";
import { hrefOf } from "../url/location.ts";
import { type Phrase, type PhrasePiece, phrasesOf } from "./sentences.ts";

/** A transaction, with highlights if requested. */
export type TransactionData = DataOf<"/api/v1/transactions">[number];

interface SentenceProps {
  readonly transaction: TransactionData;
  /** Host that the page shows; its name is omitted. */
  readonly hostId?: string | undefined;
  /** Maximum number of phrases; a count follows for the rest. */
  readonly phrases?: number;
}

export function Sentence({ transaction, hostId, phrases: maximum = 5 }: SentenceProps) {
  const { at, changes, highlights } = transaction;
  const phrases = highlights === undefined ? [] : phrasesOf(highlights, hostId);
  if (phrases.length === 0) return <>{changesText.counts(changes)}</>;
  // A single remaining phrase is written out instead of counted.
  const shown = phrases.slice(0, phrases.length === maximum + 1 ? maximum + 1 : maximum);
  const remaining = phrases.slice(shown.length).reduce((sum, { count }) => sum + count, 0);
  return (
    <>
      {shown.map((phrase, index) => (
        <span key={index} class="phrase">
          {index > 0 && "; "}
          <Pieces phrase={phrase} at={at} />
        </span>
      ))}
      {remaining > 0 && (
        <span class="aside">{` and ${groupedDigits(remaining)} more ${remaining === 1 ? "change" : "changes"}`}</span>
      )}
    </>
  );
}

/** Summary of a transaction as a list with all phrases. */
export function SentenceList({ transaction: { at, highlights } }: Pick<SentenceProps, "transaction">) {
  const phrases = highlights === undefined ? [] : phrasesOf(highlights);
  if (phrases.length === 0) return null;
  return (
    <ul class="phrases">
      {phrases.map((phrase, index) => (
        <li key={index}>
          <Pieces phrase={phrase} at={at} />
        </li>
      ))}
    </ul>
  );
}

function Pieces({ phrase: { pieces }, at }: { readonly phrase: Phrase; readonly at: string }) {
  return (
    <>
      {pieces.map((piece, index) => (
        <PieceView key={index} piece={piece} at={at} />
      ))}
    </>
  );
}

function PieceView({ piece, at }: { readonly piece: PhrasePiece; readonly at: string }) {
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
        <span class={`value-${piece.side}`}>
          {/^\d{4}-\d\d-\d\dT/.test(piece.value) ? <When instant={piece.value} /> : <bdi>{piece.value}</bdi>}
        </span>
      );
    case "record": {
      const { type, id, name, isGone } = piece;
      // Transactions have unique timestamps: a millisecond before, the removed record still existed.
      const time = isGone === true ? formatUtc((parseInstant(at) ?? 0) - 1) : at;
      if (type === "ip_address" && name !== null)
        return <NameLink href={hrefOf("/", { q: name, at: time })} name={name} />;
      return <RecordLink type={type} id={id} name={name} at={time} />;
    }
  }
}
