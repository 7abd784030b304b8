// Allocation of the lowest free addresses of a subnet, to a host or as reservations.

import { useState } from "preact/hooks";
import { LIMITS } from "#limits";
import { api, written } from "../api/client.ts";
import { lastSaved } from "../editing/saved.ts";
import { FormFields, FormProblem } from "../forms/ask-first.tsx";
import { ReasonField, TextField } from "../forms/fields.tsx";
import { FoundHost } from "../forms/found-host.tsx";
import { lacksReason } from "../forms/reason.ts";
import { Row } from "../forms/row.tsx";
import { useFirstFocus } from "../forms/sending.ts";
import { type Headers, useForm } from "../forms/use-form.ts";
import { may } from "../session/me.ts";
import { isPast } from "../time/at.ts";
import { pathname } from "../url/location.ts";

interface AllocateProps {
  readonly subnet: { readonly id: string; readonly network_id: string };
  onDone(): void;
}

export function Allocate(props: AllocateProps) {
  const [isOpen, setOpen] = useState(false);
  if (isPast.value || !may("allocateFromSubnet")) return null;
  if (!isOpen)
    return (
      <button type="button" onClick={() => setOpen(true)}>
        Allocate next free
      </button>
    );
  return <AllocateForm {...props} onClose={() => setOpen(false)} />;
}

function AllocateForm({ subnet, onDone, onClose }: AllocateProps & { onClose(): void }) {
  const form = useForm({ id: "allocate", begun: { count: "1" } });
  const [given, setGiven] = useState<readonly string[]>([]);
  const element = useFirstFocus<HTMLFormElement>();
  const hostId = form.text("host_id");
  // Text that does not resolve to a host must not turn into a reservation.
  const isUnclear = hostId === "" && form.text("host") !== "";
  const { count, name, description } = LIMITS.allocateFromSubnet;
  const give = async ({ header, headers }: Headers) => {
    const note = form.text("note");
    const own = hostId === "" ? { description: note || null } : note === "" ? {} : { name: note };
    const body = { count: Number(form.text("count")), ...own, ...(hostId === "" ? {} : { host_id: hostId }) };
    const params = { path: { id: subnet.id }, header };
    const { data, sequence } = await written(api.POST("/api/v1/subnets/{id}/allocate", { params, headers, body }));
    setGiven(data.allocated);
    const place = pathname.value;
    lastSaved.value = { kind: "subnet", id: subnet.id, operation: "created", sequence, merged: [], place };
    onDone();
  };
  return (
    <form
      ref={element}
      class="edit"
      aria-label="Allocate the next free addresses"
      noValidate
      onSubmit={(event) => form.submit(event, give)}
    >
      <FormProblem form={form} />
      {form.isLost && <p class="note">The answer was lost. Safe to retry: they are allocated once.</p>}
      {given.length > 0 && (
        <p role="status">
          Allocated: <b>{given.join(", ")}</b>
        </p>
      )}
      <FormFields form={form}>
        <Row
          id="allocate-host"
          label="To the host"
          help="Leave empty to reserve without assigning a host."
          wrong={form.check("host", "/host_id", null)}
          control={(described) => (
            <FoundHost
              hostId={hostId}
              record={{ network_id: subnet.network_id }}
              described={described}
              onFound={(host_id, host) => form.type({ host_id, host })}
            />
          )}
        />
        <TextField form={form} label="How many" limits={count} isRequired inputMode="numeric" />
        <TextField
          form={form}
          name="note"
          label={hostId === "" ? "What for" : "Name of the address"}
          limits={hostId === "" ? description : name}
          pointer={hostId === "" ? "/description" : "/name"}
        />
        <ReasonField form={form} />
      </FormFields>
      <p class="edit-end">
        <button type="submit" class="primary" disabled={form.isBusy || isUnclear || lacksReason(form.reason)}>
          {hostId === "" && !isUnclear ? "Reserve them" : "Allocate them"}
        </button>{" "}
        <button type="button" onClick={onClose}>
          Close
        </button>
      </p>
    </form>
  );
}
