// Bindings of a service: to ports of its host, on all addresses or one, or to an address. Each is added and removed in
// a transaction of its own.

import { useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { api, done, read } from "../api/client.ts";
import { lacksReason, reasonHeader } from "../forms/reason.ts";
import { ReasonRow } from "../forms/reason-input.tsx";
import { useSending } from "../forms/sending.ts";
import { Problem } from "../parts/problem.tsx";
import { Select } from "../parts/select.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { may } from "../session/me.ts";
import { isolated } from "../text/isolated.ts";
import { isPast, vs } from "../time/at.ts";

interface BindServiceProps {
  readonly service: { readonly id: string; readonly name: string; readonly host_id: string };
  /** Called after a write. */
  onDone(): void;
}

/** Whether the page shows the present and the user has the permission. */
export function mayBind(): boolean {
  return !isPast.value && vs.value === null && may("createBinding");
}

export function BindService(props: BindServiceProps) {
  const [isOpen, setOpen] = useState(false);
  if (!isOpen)
    return (
      <button type="button" aria-label={`Bind ${props.service.name}`} onClick={() => setOpen(true)}>
        Bind
      </button>
    );
  return <Bindings {...props} onClose={() => setOpen(false)} />;
}

/** Longer lists are impractical. */
const CHOICES_MAX = 1_000;

function Bindings({ service: { id, name, host_id }, onDone, onClose }: BindServiceProps & { onClose(): void }) {
  const bindings = useAnswer(read("/api/v1/bindings", { query: { service_id: id, limit: CHOICES_MAX } }));
  const query = { host_id, limit: CHOICES_MAX };
  const ports = useAnswer(read("/api/v1/ports", { query: { ...query, order_by: "number" } }));
  const addresses = useAnswer(read("/api/v1/ip-addresses", { query: { ...query, order_by: "ip_address" } }));
  const [portId, setPortId] = useState("");
  const [addressId, setAddressId] = useState("");
  const [reason, setReason] = useState("");
  const { isBusy, problem, send } = useSending();
  const headers = reasonHeader(reason);
  const end = () => {
    setPortId("");
    setAddressId("");
    setReason("");
    bindings.again();
    onDone();
  };
  if (bindings.data === undefined || ports.data === undefined || addresses.data === undefined) return <Waiting />;
  const portNames = new Map(ports.data.map((port) => [port.id, `${port.number}/${port.protocol}`]));
  const addressNames = new Map(addresses.data.map((address) => [address.id, address.ip_address]));
  const told = (binding: { port_id?: string | null; ip_address_id?: string | null }) => {
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
      await done(api.POST("/api/v1/bindings", { params: { header }, headers, body }));
      end();
    });
  };
  return (
    <form class="edit" aria-label={`What ${isolated(name)} is bound to`} onSubmit={bind}>
      {problem !== null && <Problem problem={problem} />}
      <ul>
        {bindings.data.map((binding) => (
          <li key={binding.id}>
            {told(binding)}{" "}
            {may("deleteBinding") && (
              <button
                type="button"
                disabled={isBusy || lacksReason(reason)}
                aria-label={`End ${told(binding)}`}
                onClick={() =>
                  void send([binding.id, reason], async (header) => {
                    const params = { path: { id: binding.id }, header };
                    await done(api.DELETE("/api/v1/bindings/{id}", { params, headers }));
                    end();
                  })
                }
              >
                ×
              </button>
            )}
          </li>
        ))}
      </ul>
      <p>
        <label>
          Port <Select value={portId} choices={[["", "none, the address alone"], ...portNames]} onChoose={setPortId} />
        </label>{" "}
        <label>
          Address{" "}
          <Select value={addressId} choices={[["", "all addresses"], ...addressNames]} onChoose={setAddressId} />
        </label>
      </p>
      <ReasonRow id={`bind-reason-${id}`} reason={reason} onReason={setReason} />
      <p class="edit-end">
        <button
          type="submit"
          class="primary"
          disabled={isBusy || lacksReason(reason) || (portId === "" && addressId === "")}
        >
          Bind
        </button>{" "}
        <button type="button" onClick={onClose}>
          Close
        </button>
      </p>
    </form>
  );
}
