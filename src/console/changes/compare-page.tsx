// Comparison page: additions, removals and changes between two instants, of everything, a network or a host.

import { useRef, useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import type { Read } from "../api/client.ts";
import { diffRead, fromAToB } from "../api/diff.ts";
import type { DiffData } from "../api/diff-data.ts";
import { refreshNow, useFresh } from "../api/fresh.ts";
import { kindWords } from "../kinds/kinds.ts";
import { ObservedSwitch } from "../parts/observed-switch.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { counted } from "../text/digits.ts";
import { at, atMs, network } from "../time/at.ts";
import { exactNow } from "../time/clock.ts";
import { type ComparedEnds, compared } from "../time/compared.ts";
import { formatUtc, parseInstant } from "../time/instant.ts";
import { go, hrefHere, parameter } from "../url/location.ts";
import { Difference } from "./difference.tsx";
import { type ChangedRecord, type Written, withWritten } from "./difference-lines.ts";
import { KindOptions } from "./kind-options.tsx";

const DAY_MS = 86_400_000;

export function ComparePage() {
  const ends = compared.value;
  // The time bar reports unreadable instants.
  if (ends === null) return <Begin />;
  const host = parameter("host");
  const types = parameter("types");
  const asked = diffRead(ends, {
    ...(network.value === null ? {} : { network_id: network.value }),
    ...(host === null ? {} : { host_id: host }),
    ...(types === null ? {} : { types: types.split(",") as never }),
  });
  return <Compared ends={ends} asked={asked} types={types} host={host} />;
}

interface ComparedProps {
  readonly ends: ComparedEnds;
  readonly asked: Read<DiffData>;
  readonly types: string | null;
  readonly host: string | null;
}

const total = (counts: Readonly<Record<string, Readonly<Record<string, number>>>>) =>
  Object.entries(counts)
    .map(([type, sides]) => {
      const sum = Object.values(sides).reduce((a, b) => a + b, 0);
      const [one, many] = kindWords(type);
      return counted(sum, one, many);
    })
    .join(", ");

function Compared({ ends, asked, types, host }: ComparedProps) {
  const { data: answered, problem, again, isEarlier, isLoading } = useAnswer(asked);
  // An answer for other ends keeps its original orientation.
  const last = useRef<DiffData | undefined>(undefined);
  if (!isEarlier || answered === undefined) last.current = answered && fromAToB(answered, ends);
  const data = last.current;
  const isToNow = ends.to === null;
  useFresh({
    live: isToNow
      ? { how: "offer", types: types?.split(","), host_id: host ?? undefined, network_id: network.value }
      : null,
    name: `${asked.url} ${answered?.to.at}`,
    sinceMs: (answered && parseInstant(answered.to.at)) ?? undefined,
    again,
    isBusy: () => isLoading,
  });
  // A different comparison starts with nothing written.
  const [kept, setKept] = useState<{ readonly url: string; readonly written: readonly Written[] }>(NOTHING_WRITTEN);
  const written = kept.url === asked.url ? kept.written : [];
  const onWritten = (record: ChangedRecord) => {
    const place = data?.changed.findIndex(({ id }) => id === record.id) ?? -1;
    if (place >= 0)
      setKept({
        url: asked.url,
        written: [...written.filter((each) => each.record.id !== record.id), { record, place }],
      });
    again();
    refreshNow();
  };
  const choose = (event: Event) => go(hrefHere({ types: (event.currentTarget as HTMLSelectElement).value || null }));
  return (
    <Page
      title="Compare"
      reads={[asked.url]}
      csv={`${asked.url}&format=csv`}
      about={
        data !== undefined && (
          <>
            <When instant={data.from.at} /> → <When instant={data.to.at} />
          </>
        )
      }
      actions={
        <>
          <ObservedSwitch />
          <select value={types ?? ""} onChange={choose} aria-label="Kinds">
            <KindOptions />
          </select>
        </>
      }
    >
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Waiting />}
      {data !== undefined && (
        <>
          <p class="aside">{total(data.counts as Record<string, Record<string, number>>)}</p>
          <Difference diff={withWritten(data, written)} {...(isToNow ? { onWritten } : {})} />
        </>
      )}
    </Page>
  );
}

const NOTHING_WRITTEN = { url: "", written: [] };

function Begin() {
  const ago = (days: number) =>
    hrefHere({ vs: formatUtc(Math.floor(((atMs.value ?? exactNow()) - days * DAY_MS) / 1_000) * 1_000) });
  return (
    <Page title="Compare">
      <p>Compare now with:</p>
      <p class="periods">
        <a class="button" href={ago(1)}>
          {at.value === null ? "24 hours ago" : "24 hours before"}
        </a>
        <a class="button" href={ago(7)}>
          {at.value === null ? "7 days ago" : "7 days before"}
        </a>
      </p>
    </Page>
  );
}
