// Links to a scan of the records on a page or selected in a list, if permitted. The scan form asks for the details.

import { useState } from "preact/hooks";
import { asRefusal, read } from "../api/client.ts";
import { IDS_MAX } from "../api/ids.ts";
import { ActionButton, LinkButton } from "../components/buttons.tsx";
import { sentenceOf } from "../components/problem.tsx";
import { apiPath, entryOf, isRecordKind, type RecordKind } from "../kinds/kinds.ts";
import { may } from "../session/me.ts";
import { groupedDigits } from "../text/digits.ts";
import { ownValue } from "../text/own-value.ts";
import { isPast, vs } from "../time/at.ts";
import { go } from "../url/location.ts";
import { scanHref } from "./scan-link.ts";

/** Limit of `ids` in the API; this many targets also fit in a URL. */
const TARGETS_MAX = IDS_MAX;

function isOffered(): boolean {
  return !isPast.value && vs.value === null && may("createScan");
}

/** Link to a scan of a subnet. */
export function ScanLink({ networkId, cidr }: { readonly networkId: string; readonly cidr: string }) {
  if (!isOffered()) return null;
  return <LinkButton href={scanHref({ networkId, targets: [cidr] })} label="Scan now" />;
}

/** Addresses to scan for the records. @param field field with the addresses */
async function targetsOf(kind: RecordKind, field: string, ids: readonly string[]) {
  const { data } = await read(apiPath(kind), { query: { ids: [...ids], limit: TARGETS_MAX } }).load();
  return data.flatMap((record: Readonly<Record<string, unknown>>) => {
    const networkId = String(record.network_id);
    return [ownValue(record, field) ?? []].flat().map((text) => {
      const { ip_address: target = text } = text as { readonly ip_address?: unknown };
      return { networkId, target: String(target) };
    });
  });
}

/** Whether records of a kind can be scanned, in the present. */
export function mayScanRecords(kind: string): boolean {
  return entryOf(kind)?.targetField !== undefined && may("createScan");
}

/** Button that loads the records' addresses and opens the scan form. Shows nothing for kinds without addresses. */
export function ScanRecords({ kind, ids }: { readonly kind: string; readonly ids: readonly string[] }) {
  const [text, setText] = useState("");
  const [isBusy, setBusy] = useState(false);
  const field = entryOf(kind)?.targetField;
  if (!isRecordKind(kind) || field === undefined || ids.length === 0 || !isOffered()) return null;
  const openForm = async () => {
    setText("");
    setBusy(true);
    try {
      const found = ids.length > TARGETS_MAX ? [] : await targetsOf(kind, field, ids);
      const networkIds = new Set(found.map(({ networkId }) => networkId));
      const [networkId] = networkIds;
      if (ids.length > TARGETS_MAX || found.length > TARGETS_MAX)
        setText(`At most ${groupedDigits(TARGETS_MAX)} addresses can be scanned from here. Scan a subnet instead.`);
      else if (networkId === undefined) setText("No address to scan.");
      else if (networkIds.size > 1) setText("The selection spans several networks, but a scan covers only one.");
      else go(scanHref({ networkId, targets: [...new Set(found.map(({ target }) => target))] }));
    } catch (cause) {
      setText(sentenceOf(asRefusal(cause)));
    } finally {
      setBusy(false);
    }
  };
  return (
    <span>
      <ActionButton label="Scan now" disabled={isBusy} onClick={() => void openForm()} />{" "}
      <span class="aside" role="status">
        {text}
      </span>
    </span>
  );
}
