// Comparison page: records added, removed and changed between two timestamps, in everything, a network or a host.

import { useRef, useState } from "preact/hooks";
import { diffRead, fromAToB } from "../api/diff.ts";
import type { DiffData } from "../api/diff-data.ts";
import { refreshNow, useFresh } from "../api/fresh.ts";
import { useResponse } from "../api/response.ts";
import { LinkButton } from "../components/buttons.tsx";
import { ObservedSwitch } from "../components/observed-switch.tsx";
import { Page } from "../components/page.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { When } from "../components/when.tsx";
import { kindWords } from "../kinds/kinds.ts";
import { counted } from "../text/digits.ts";
import { at, atMs, network } from "../time/at.ts";
import { exactNow } from "../time/clock.ts";
import { type ComparedEnds, compared } from "../time/compared.ts";
import { formatUtc, parseInstant } from "../time/instant.ts";
import { go, hrefHere, parameter } from "../url/location.ts";
import { Difference } from "./difference.tsx";
import { type ChangedRecord, type RestoredRecord, withRestored } from "./difference-lines.ts";
import { KindOptions } from "./kind-options.tsx";

const DAY_MS = 86_400_000;

export function ComparePage() {
  const ends = compared.value;
  // The time bar reports an unreadable timestamp.
  return ends === null ? <ChooseStart /> : <ComparisonResult ends={ends} />;
}

const summaryOf = (counts: Readonly<Record<string, Readonly<Record<string, number>>>>) =>
  Object.entries(counts)
    .map(([type, sides]) =>
      counted(
        Object.values(sides).reduce((a, b) => a + b, 0),
        ...kindWords(type),
      ),
    )
    .join(", ");

function ComparisonResult({ ends }: { readonly ends: ComparedEnds }) {
  const host = parameter("host");
  const types = parameter("types");
  const diffRequest = diffRead(ends, {
    ...(network.value === null ? {} : { network_id: network.value }),
    ...(host === null ? {} : { host_id: host }),
    ...(types === null ? {} : { types: types.split(",") as never }),
  });
  const { data: response, problem, retry, isEarlier, isLoading } = useResponse(diffRequest);
  // A response for other ends stays in the direction in which it was requested.
  const lastDiff = useRef<DiffData | undefined>(undefined);
  if (!isEarlier || response === undefined) lastDiff.current = response && fromAToB(response, ends);
  const data = lastDiff.current;
  const isToNow = ends.to === null;
  useFresh({
    live: isToNow
      ? { how: "offer", types: types?.split(","), host_id: host ?? undefined, network_id: network.value }
      : null,
    name: `${diffRequest.url} ${response?.to.at}`,
    sinceMs: (response && parseInstant(response.to.at)) ?? undefined,
    retry,
    isBusy: () => isLoading,
  });
  // Records restored here, for this comparison only.
  const [restoredHere, setRestoredHere] = useState({ url: "", records: [] as readonly RestoredRecord[] });
  const restored = restoredHere.url === diffRequest.url ? restoredHere.records : [];
  const onWritten = (record: ChangedRecord) => {
    const index = data?.changed.findIndex(({ id }) => id === record.id) ?? -1;
    if (index >= 0)
      setRestoredHere({
        url: diffRequest.url,
        records: [...restored.filter((other) => other.record.id !== record.id), { record, index }],
      });
    retry();
    refreshNow();
  };
  const choose = (event: Event) => go(hrefHere({ types: (event.currentTarget as HTMLSelectElement).value || null }));
  return (
    <Page
      title="Compare"
      reads={[diffRequest.url]}
      csv={`${diffRequest.url}&format=csv`}
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
      <ResponseState data={data} problem={problem} retry={retry} />
      {data !== undefined && (
        <>
          <p class="aside">{summaryOf(data.counts as Record<string, Record<string, number>>)}</p>
          <Difference diff={withRestored(data, restored)} {...(isToNow ? { onWritten } : {})} />
        </>
      )}
    </Page>
  );
}

function ChooseStart() {
  const ago = (days: number) =>
    hrefHere({ vs: formatUtc(Math.floor(((atMs.value ?? exactNow()) - days * DAY_MS) / 1_000) * 1_000) });
  return (
    <Page title="Compare">
      <p>Compare now with:</p>
      <p class="periods">
        <LinkButton href={ago(1)} label={at.value === null ? "24 hours ago" : "24 hours before"} />
        <LinkButton href={ago(7)} label={at.value === null ? "7 days ago" : "7 days before"} />
      </p>
    </Page>
  );
}
