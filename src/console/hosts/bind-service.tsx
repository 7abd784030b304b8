// Bindings of a service to ports and addresses of its host. Each is written in its own transaction.

import { useState } from "preact/hooks";
import { api, read, unwrap } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { ActionButton, SubmitButton } from "../components/buttons.tsx";
import { Problem } from "../components/problem.tsx";
import { Select } from "../components/select.tsx";
import { Waiting } from "../components/waiting.tsx";
import { lacksReason, reasonHeader } from "../forms/reason.ts";
import { ReasonRow } from "../forms/reason-input.tsx";
import { useWrite } from "../forms/use-write.ts";
import { may } from "../session/me.ts";
import { isolated } from "../text/isolated.ts";
import { isPast, vs } from "../time/at.ts";

interface BindServiceProps {
  readonly service: { readonly id: string; readonly name: string; readonly host_id: string };
  /** Called after a write. */
  onDone(): void;
}

/** Whether the page shows now, without a comparison, and the user has the permission. */
export function mayBind(): boolean {
  return !isPast.value && vs.value === null && may("createBinding");
}

export function BindService(props: BindServiceProps) {
  const [isOpen, setOpen] = useState(false);
  if (!isOpen)
    return <ActionButton label="Bind" aria-label={`Bind ${props.service.name}`} onClick={() => setOpen(true)} />;
  return <Bindings {...props} onClose={() => setOpen(false)} />;
}

/** Longer lists are impractical. */
const CHOICES_MAX = 1_000;

function Bindings({ service: { id, name, host_id }, onDone, onClose }: BindServiceProps & { onClose(): void }) {
  const bindings = useResponse(read("/api/v1/bindings", { query: { service_id: id, limit: CHOICES_MAX } }));
  const query = { host_id, limit: CHOICES_MAX };
  const ports = useResponse(read("/api/v1/ports", { query: { ...query, order_by: "number" } }));
  const addresses = useResponse(read("/api/v1/ip-addresses", { query: { ...query, order_by: "ip_address" } }));
  const [portId, setPortId] = useState("");
  const [addressId, setAddressId] = useState("");
  const [reason, setReason] = useState("");
  const { isBusy, problem, send } = useWrite();
  const headers = reasonHeader(reason);
  const finish = () => {
    setPortId("");
    setAddressId("");
    setReason("");
    bindings.retry();
    onDone();
  };
  if (bindings.data === undefined || ports.data === undefined || addresses.data === undefined) return <Waiting />;
  const portNames = new Map(ports.data.map((port) => [port.id, `${port.number}/${port.protocol}`]));
  const addressNames = new Map(addresses.data.map((address) => [address.id, address.ip_address]));
  const describe = (binding: { port_id?: string | null; ip_address_id?: string | null }) => {
    const port = portNames.get(binding.port_id ?? "");
    const address = binding.ip_address_id ? (addressNames.get(binding.ip_address_id) ?? "…") : "all addresses";
    return port === undefined ? address : `${port} at ${address}`;
  };
  const bind = (event: SubmitEvent) => {
    event.preventDefault();
    const body =
      portId === ""
        ? { service_id: id, type: "IpAddress" as const, ip_address_id: addressId }
        : { service_id: id, type: "Port" as const, port_id: portId, ip_address_id: addressId || null };
    void send([body, reason], async (header) => {
      await unwrap(api.POST("/api/v1/bindings", { params: { header }, headers, body }));
      finish();
    });
  };
  return (
    <form class="edit" aria-label={`Bindings of ${isolated(name)}`} onSubmit={bind}>
      {problem !== null && <Problem problem={problem} />}
      <ul>
        {bindings.data.map((binding) => (
          <li key={binding.id}>
            {describe(binding)}{" "}
            {may("deleteBinding") && (
              <ActionButton
                label="×"
                disabled={isBusy || lacksReason(reason)}
                aria-label={`Remove ${describe(binding)}`}
                onClick={() =>
                  void send([binding.id, reason], async (header) => {
                    const params = { path: { id: binding.id }, header };
                    await unwrap(api.DELETE("/api/v1/bindings/{id}", { params, headers }));
                    finish();
                  })
                }
              />
            )}
          </li>
        ))}
      </ul>
      <p>
        <label>
          Port <Select value={portId} choices={[["", "none (address only)"], ...portNames]} onChoose={setPortId} />
        </label>{" "}
        <label>
          Address{" "}
          <Select value={addressId} choices={[["", "all addresses"], ...addressNames]} onChoose={setAddressId} />
        </label>
      </p>
      <ReasonRow id={`bind-reason-${id}`} reason={reason} onReason={setReason} />
      <p class="edit-end">
        <SubmitButton label="Bind" disabled={isBusy || lacksReason(reason) || (portId === "" && addressId === "")} />{" "}
        <ActionButton label="Close" onClick={onClose} />
      </p>
    </form>
  );
}
