// Fact-list rows with a single value: a timestamp, a string, or a record by name.

import type { RecordKind } from "../kinds/kinds.ts";
import { Named } from "../names/named.tsx";
import { Fact } from "./facts.tsx";
import { When } from "./when.tsx";

interface TimeFactProps {
  readonly name: string;
  /** Without a timestamp, no row is shown. */
  readonly instant: string | null | undefined;
  readonly as?: "time" | "both";
}

export function TimeFact({ name, instant, as = "both" }: TimeFactProps) {
  if (instant === null || instant === undefined) return null;
  return (
    <Fact name={name}>
      <When instant={instant} as={as} />
    </Fact>
  );
}

export function TextFact({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <Fact name={name}>
      <bdi>{text}</bdi>
    </Fact>
  );
}

interface NamedFactProps {
  readonly name: string;
  readonly kind: RecordKind;
  readonly id: string;
}

export function NamedFact({ name, kind, id }: NamedFactProps) {
  return (
    <Fact name={name}>
      <Named kind={kind} id={id} />
    </Fact>
  );
}
