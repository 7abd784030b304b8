// Allocation of the lowest free addresses of a subnet, to a host or as reservations.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { api, asRefusal, written } from "../api/client.ts";
import { isUnsure, type Refusal } from "../api/refusal.ts";
import { lastSaved } from "../editing/saved.ts";
import { FoundHost } from "../forms/found-host.tsx";
import { lacksReason, reasonHeader } from "../forms/reason.ts";
import { ReasonRow } from "../forms/reason-input.tsx";
import { RequestKeys } from "../forms/request-key.ts";
import { Problem } from "../parts/problem.tsx";
import { may } from "../session/me.ts";
import { allocateText } from "../text/networks.ts";
import { isPast } from "../time/at.ts";
import { pathname } from "../url/location.ts";

interface AllocateProps {
  readonly subnet: { readonly id: string; readonly network_id: string };
  onDone(): void;
}

/** Limit of the API. */
const COUNT_MAX = 100;

export function Allocate(props: AllocateProps) {
  const [isOpen, setOpen] = useState(false);
  if (isPast.value || !may("allocateFromSubnet")) return null;
  if (!isOpen)
    return (
      <button type="button" onClick={() => setOpen(true)}>
        {allocateText.open}
      </button>
    );
  return <AllocateForm {...props} onClose={() => setOpen(false)} />;
}

function AllocateForm({ subnet, onDone, onClose }: AllocateProps & { onClose(): void }) {
  const [hostId, setHostId] = useState("");
  const [hostText, setHostText] = useState("");
  const [count, setCount] = useState("1");
  const [note, setNote] = useState("");
  const [reason, setReason] = useState("");
  const [problem, setProblem] = useState<Refusal | null>(null);
  const [given, setGiven] = useState<readonly string[]>([]);
  const [isBusy, setBusy] = useState(false);
  const keys = useRef(new RequestKeys());
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>("input")?.focus(), []);
  // After a lost response, a changed request could allocate further addresses.
  const [isLost, setLost] = useState(false);
  // Text that does not resolve to a host must not turn into a reservation.
  const isUnclear = hostId === "" && hostText.trim() !== "";
  const isWrong = !/^\d{1,3}$/.test(count) || Number(count) < 1 || Number(count) > COUNT_MAX;
  const give = async (event: SubmitEvent) => {
    event.preventDefault();
    if (isBusy || isWrong || isUnclear) return;
    setBusy(true);
    setProblem(null);
    const said = note.trim();
    const own = hostId === "" ? { description: said === "" ? null : said } : said === "" ? {} : { name: said };
    const body = { count: Number(count), ...own, ...(hostId === "" ? {} : { host_id: hostId }) };
    const text = JSON.stringify([body, reason]);
    const key = keys.current.of(text);
    try {
      const { data, sequence } = await written(
        api.POST("/api/v1/subnets/{id}/allocate", {
          params: { path: { id: subnet.id }, header: { "Idempotency-Key": key } },
          headers: reasonHeader(reason),
          body,
        }),
      );
      setGiven(data.allocated);
      lastSaved.value = {
        kind: "subnet",
        id: subnet.id,
        operation: "created",
        sequence,
        merged: [],
        place: pathname.value,
      };
      keys.current.settle(text);
      setLost(false);
      onDone();
    } catch (cause) {
      const refusal = asRefusal(cause);
      setProblem(refusal);
      setLost(isUnsure(refusal));
    }
    setBusy(false);
  };
  return (
    <form ref={form} class="edit" aria-label={allocateText.title} onSubmit={(event) => void give(event)}>
      {problem !== null && <Problem problem={problem} />}
      {isLost && <p class="note">{allocateText.unsure}</p>}
      {given.length > 0 && (
        <p role="status">
          {allocateText.given} <b>{given.join(", ")}</b>
        </p>
      )}
      <div class="edit-fields" inert={isLost}>
        <div class="edit-field">
          <label for="allocate-host">{allocateText.host}</label>
          <div>
            <FoundHost
              hostId={hostId}
              record={{ network_id: subnet.network_id }}
              described={{ id: "allocate-host", "aria-describedby": "allocate-host-help" }}
              onFound={(id, text) => {
                setHostId(id);
                setHostText(text);
              }}
            />
            <p class="aside" id="allocate-host-help">
              {allocateText.hostHelp}
            </p>
          </div>
        </div>
        <div class="edit-field">
          <label for="allocate-count">{allocateText.count}</label>
          <div>
            <input
              id="allocate-count"
              type="text"
              inputMode="numeric"
              aria-invalid={isWrong}
              value={count}
              onInput={(event) => setCount(event.currentTarget.value)}
            />
            {isWrong && <p class="edit-wrong">{allocateText.countWrong(COUNT_MAX)}</p>}
          </div>
        </div>
        <div class="edit-field">
          <label for="allocate-note">{hostId === "" ? allocateText.description : allocateText.name}</label>
          <input
            id="allocate-note"
            type="text"
            maxLength={255}
            value={note}
            onInput={(event) => setNote(event.currentTarget.value)}
          />
        </div>
        <ReasonRow id="allocate-reason" reason={reason} onReason={setReason} />
      </div>
      <p class="edit-end">
        <button type="submit" class="primary" disabled={isBusy || isWrong || isUnclear || lacksReason(reason)}>
          {hostId === "" && !isUnclear ? allocateText.reserve : allocateText.give}
        </button>{" "}
        <button type="button" onClick={onClose}>
          {allocateText.close}
        </button>
      </p>
    </form>
  );
}
