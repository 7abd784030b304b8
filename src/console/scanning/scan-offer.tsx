// The way to a scan of what a page shows, or of what is selected in a list, where one may ask for it. What of it is wanted
// is said there.

import { useState } from "preact/hooks";
import { asRefusal, read } from "../api/client.ts";
import { IDS_MAX } from "../api/ids.ts";
import { apiPath, entryOf, isRecordKind, type RecordKind } from "../kinds/kinds.ts";
import { sentenceOf } from "../parts/problem.tsx";
import { may } from "../session/me.ts";
import { scanningText } from "../text/scanning.ts";
import { isPast, vs } from "../time/at.ts";
import { go } from "../url/location.ts";
import { scanHref } from "./scan-link.ts";

/** As many as a list takes by `ids`, and as an address of the browser takes in. */
const TARGETS_MAX = IDS_MAX;

function isOffered(): boolean {
  return !isPast.value && vs.value === null && may("createScan");
}

/** To a scan of a subnet. */
export function ScanLink({ networkId, cidr }: { readonly networkId: string; readonly cidr: string }) {
  if (!isOffered()) return null;
  return (
    <a class="button" href={scanHref({ networkId, targets: [cidr] })}>
      {scanningText.scanNow}
    </a>
  );
}

interface Target {
  readonly networkId: string;
  readonly target: string;
}

/** The addresses by which records are asked. */
async function targetsOf(kind: RecordKind, ids: readonly string[]): Promise<Target[]> {
  const { data } = await read(apiPath(kind), { query: { ids: [...ids], limit: TARGETS_MAX } }).load();
  return data.flatMap((record) => {
    const { network_id, [entryOf(kind)?.scanned ?? ""]: said } = record as Readonly<Record<string, unknown>>;
    const targets = Array.isArray(said) ? said.map(({ ip_address }) => ip_address) : [said];
    return targets.map((target) => ({ networkId: String(network_id), target: String(target) }));
  });
}

interface ScanRecordsProps {
  /** By its name in the API; of what is no host, address or subnet nothing is offered. */
  readonly kind: string;
  readonly ids: readonly string[];
}

/** To a scan of records, once it is known by which addresses they are asked. */
export function ScanRecords({ kind, ids }: ScanRecordsProps) {
  const [said, setSaid] = useState("");
  const [isBusy, setBusy] = useState(false);
  const isScanned = isRecordKind(kind) && entryOf(kind)?.scanned !== undefined;
  if (!isScanned || ids.length === 0 || !isOffered()) return null;
  const ask = async () => {
    setSaid("");
    setBusy(true);
    try {
      const found = ids.length > TARGETS_MAX ? [] : await targetsOf(kind, ids);
      const networkIds = new Set(found.map(({ networkId }) => networkId));
      const [networkId] = networkIds;
      if (ids.length > TARGETS_MAX || found.length > TARGETS_MAX) setSaid(scanningText.tooMany(TARGETS_MAX));
      else if (networkId === undefined) setSaid(scanningText.noAddresses);
      else if (networkIds.size > 1) setSaid(scanningText.severalNetworks);
      else go(scanHref({ networkId, targets: [...new Set(found.map(({ target }) => target))] }));
    } catch (cause) {
      setSaid(sentenceOf(asRefusal(cause)));
    } finally {
      setBusy(false);
    }
  };
  return (
    <span>
      <button type="button" disabled={isBusy} onClick={() => void ask()}>
        {scanningText.scanNow}
      </button>{" "}
      <span class="aside" role="status">
        {said}
      </span>
    </span>
  );
}
