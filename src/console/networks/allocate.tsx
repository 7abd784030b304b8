// Form to allocate the lowest free addresses of a subnet, to a host or as reservations.

import { useState } from "preact/hooks";
import { LIMITS } from "#limits";
import { api, unwrapWrite } from "../api/client.ts";
import { ActionButton, SubmitButton } from "../components/buttons.tsx";
import { lastSaved } from "../editing/saved.ts";
import { FormFields, FormProblem } from "../forms/confirm-form.tsx";
import { ReasonField, TextField } from "../forms/fields.tsx";
import { HostSearchField } from "../forms/host-search-field.tsx";
import { lacksReason } from "../forms/reason.ts";
import { Row } from "../forms/row.tsx";
import { type Headers, useForm } from "../forms/use-form.ts";
import { useFirstFocus } from "../forms/use-write.ts";
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
  if (!isOpen) return <ActionButton label="Allocate next free" onClick={() => setOpen(true)} />;
  return <AllocateForm {...props} onClose={() => setOpen(false)} />;
}

function AllocateForm({ subnet, onDone, onClose }: AllocateProps & { onClose(): void }) {
  const form = useForm({ id: "allocate", initial: { count: "1" } });
  const [allocated, setAllocated] = useState<readonly string[]>([]);
  const element = useFirstFocus<HTMLFormElement>();
  const hostId = form.text("host_id");
  // Text that does not resolve to a host must not create a reservation.
  const isUnresolved = hostId === "" && form.text("host") !== "";
  const { count, name, description } = LIMITS.allocateFromSubnet;
  const allocate = async ({ header, headers }: Headers) => {
    const note = form.text("note");
    const details = hostId === "" ? { description: note || null } : note === "" ? {} : { name: note };
    const body = { count: Number(form.text("count")), ...details, ...(hostId === "" ? {} : { host_id: hostId }) };
    const params = { path: { id: subnet.id }, header };
    const { data, sequence } = await unwrapWrite(api.POST("/api/v1/subnets/{id}/allocate", { params, headers, body }));
    setAllocated(data.allocated);
    const page = pathname.value;
    lastSaved.value = { kind: "subnet", id: subnet.id, operation: "created", sequence, merged: [], page };
    onDone();
  };
  return (
    <form
      ref={element}
      class="edit"
      aria-label="Allocate the next free addresses"
      noValidate
      onSubmit={(event) => form.submit(event, allocate)}
    >
      <FormProblem form={form} />
      {form.isLost && <p class="note">The response was lost. Safe to retry: addresses are allocated only once.</p>}
      {allocated.length > 0 && (
        <p role="status">
          Allocated: <b>{allocated.join(", ")}</b>
        </p>
      )}
      <FormFields form={form}>
        <Row
          id="allocate-host"
          label="Host"
          help="Leave empty to reserve without assigning a host."
          error={form.check("host", "/host_id", null)}
          control={(described) => (
            <HostSearchField
              hostId={hostId}
              record={{ network_id: subnet.network_id }}
              described={described}
              onFound={(host_id, host) => form.type({ host_id, host })}
            />
          )}
        />
        <TextField form={form} label="Number of addresses" limits={count} isRequired inputMode="numeric" />
        <TextField
          form={form}
          name="note"
          label={hostId === "" ? "Purpose" : "Name of the address"}
          limits={hostId === "" ? description : name}
          pointer={hostId === "" ? "/description" : "/name"}
        />
        <ReasonField form={form} />
      </FormFields>
      <p class="edit-end">
        <SubmitButton
          label={hostId === "" && !isUnresolved ? "Reserve" : "Allocate"}
          disabled={form.isBusy || isUnresolved || lacksReason(form.reason)}
        />{" "}
        <ActionButton label="Close" onClick={onClose} />
      </p>
    </form>
  );
}
