// Links to a scan of the records on a page or selected in a list, if permitted. The scan form asks for the details.

import { useState } from "preact/hooks";
import { asRefusal, read } from "../api/client.ts";
import { IDS_MAX } from "../api/ids.ts";
import { apiPath, entryOf, isRecordKind, type RecordKind } from "../kinds/kinds.ts";
import { sentenceOf } from "../parts/problem.tsx";
import { may } from "../session/me.ts";
import { groupedDigits } from "../text/digits.ts";
import { ownValue } from "../text/own-value.ts";
import { isPast, vs } from "../time/at.ts";
import { go } from "../url/location.ts";
import { scanHref } from "./scan-link.ts";

/** Limit of `ids` in the API; also fits into an address. */
const TARGETS_MAX = IDS_MAX;

function isOffered(): boolean {
  return !isPast.value && vs.value === null && may("createScan");
}

/** Link to a scan of a subnet. */
export function ScanLink({ networkId, cidr }: { readonly networkId: string; readonly cidr: string }) {
  if (!isOffered()) return null;
  return (
    <a class="button" href={scanHref({ networkId, targets: [cidr] })}>
      Scan now
    </a>
  );
}

interface Target {
  readonly networkId: string;
  readonly target: string;
}

/** Addresses for scanning the records. @param field field with the addresses */
async function targetsOf(kind: RecordKind, field: string, ids: readonly string[]): Promise<Target[]> {
  const { data } = await read(apiPath(kind), { query: { ids: [...ids], limit: TARGETS_MAX } }).load();
  return data.flatMap((record: Readonly<Record<string, unknown>>) => {
    const networkId = String(record.network_id);
    return [ownValue(record, field) ?? []].flat().map((said) => {
      const { ip_address: target = said } = said as { readonly ip_address?: unknown };
      return { networkId, target: String(target) };
    });
  });
}

interface ScanRecordsProps {
  /** API name of the kind; only hosts, addresses and subnets can be scanned. */
  readonly kind: string;
  readonly ids: readonly string[];
}

/** Button that opens the scan form once the addresses of the records are loaded. */
export function ScanRecords({ kind, ids }: ScanRecordsProps) {
  const [said, setSaid] = useState("");
  const [isBusy, setBusy] = useState(false);
  const field = entryOf(kind)?.scanned;
  if (!isRecordKind(kind) || field === undefined || ids.length === 0 || !isOffered()) return null;
  const ask = async () => {
    setSaid("");
    setBusy(true);
    try {
      const found = ids.length > TARGETS_MAX ? [] : await targetsOf(kind, field, ids);
      const networkIds = new Set(found.map(({ networkId }) => networkId));
      const [networkId] = networkIds;
      if (ids.length > TARGETS_MAX || found.length > TARGETS_MAX)
        setSaid(`A scan that is asked for here names at most ${groupedDigits(TARGETS_MAX)} addresses: name a subnet.`);
      else if (networkId === undefined) setSaid("It has no address to ask.");
      else if (networkIds.size > 1) setSaid("The selection spans several networks, but a scan covers only one.");
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
        Scan now
      </button>{" "}
      <span class="aside" role="status">
        {said}
      </span>
    </span>
  );
}
