// Selection of the parts of a host that move to a new one. The plan lists dependents that move along or are deleted.

import { useState } from "preact/hooks";
import { LIMITS } from "#limits";
import { read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { Problems } from "../components/problem.tsx";
import { Waiting } from "../components/waiting.tsx";
import { Restored } from "../forms/confirm-form.tsx";
import { TextField } from "../forms/fields.tsx";
import { type FormState, useForm } from "../forms/use-form.ts";
import { RecordLink } from "../names/record-link.tsx";
import { interfaceName } from "../names/shown-name.ts";
import { PlannedWrite } from "../plans/planned-write.tsx";
import type { Plan } from "../plans/plans.ts";
import { me } from "../session/me.ts";
import { groupedDigits } from "../text/digits.ts";
import { isolated } from "../text/isolated.ts";
import { type SplitParts, splitPlan } from "./identity-plans.ts";

/** Limit of each list; longer lists are impractical. */
const PARTS_MAX = 300;

const FIELDS = ["ip_address_ids", "if_entry_ids", "port_ids", "service_ids"] as const;

export function SplitHost({ id, onDone }: { readonly id: string; onDone(): void }) {
  const initial = { name: "", ip_address_ids: [], if_entry_ids: [], port_ids: [], service_ids: [] };
  const form = useForm({ id: "split", draft: { userId: me.peek()?.id ?? "", kind: "split", id }, initial });
  const [isReviewing, setReviewing] = useState(false);
  const [newHostId, setNewHostId] = useState<string | null>(null);
  const name = form.text("name");
  const parts = Object.fromEntries(FIELDS.map((field) => [field, form.list(field)])) as unknown as SplitParts;
  const count = FIELDS.reduce((sum, field) => sum + parts[field].length, 0);
  if (isReviewing)
    return (
      <>
        <PlannedWrite
          title={`Split off ${isolated(name)}`}
          submitLabel="Split"
          consequence="Scans do not move discovered parts back to the old host."
          isUndoable
          run={async (options) => {
            const plan = await splitPlan(id, { name, parts }, options);
            if (plan.applied) setNewHostId(newHostOf(plan));
            return plan;
          }}
          onEnd={() => {
            if (newHostId !== null) form.reset();
            setNewHostId(null);
            setReviewing(false);
          }}
          onDone={() => {
            // An undo deletes the new host.
            setNewHostId((host) => (count === 0 ? null : host));
            form.reset({ name });
            onDone();
          }}
        />
        {newHostId !== null && (
          <p role="status">
            The new host: <RecordLink type="host" id={newHostId} name={name} />
          </p>
        )}
      </>
    );
  return (
    <form
      class="edit"
      aria-label="Split this host"
      onSubmit={(event) => {
        event.preventDefault();
        if (count > 0 && name !== "") setReviewing(true);
      }}
    >
      {form.isRestored && <Restored onDiscard={() => form.reset()} />}
      <TextField form={form} label="Name of the new host" limits={LIMITS.HostSplit.name} />
      <PartChoices id={id} form={form} />
      <p class="edit-end">
        <button type="submit" class="primary" disabled={count === 0 || name === ""}>
          Preview…
        </button>{" "}
        <span class="aside" role="status">
          {count === 0 ? "Nothing selected." : `${groupedDigits(count)} selected`}
        </span>
      </p>
    </form>
  );
}

function newHostOf({ actions }: Plan): string | null {
  return actions.find(({ action, entity_type }) => action === "Created" && entity_type === "host")?.id ?? null;
}

function PartChoices({ id, form }: { readonly id: string; readonly form: FormState }) {
  const query = { host_id: id, limit: PARTS_MAX };
  const live = { how: "refresh" as const, host_id: id };
  const addresses = useResponse(read("/api/v1/ip-addresses", { query: { ...query, order_by: "ip_address" } }), live);
  const interfaces = useResponse(read("/api/v1/if-entries", { query: { ...query, order_by: "if_index" } }), live);
  const ports = useResponse(read("/api/v1/ports", { query: { ...query, order_by: "number" } }), live);
  const services = useResponse(read("/api/v1/services", { query }), live);
  const all = [addresses, interfaces, ports, services];
  if (all.some(({ problem }) => problem !== undefined)) return <Problems responses={all} />;
  if (all.some(({ data }) => data === undefined)) return <Waiting />;
  const hasMore = all.some(({ meta }) => meta?.pagination.has_more === true);
  const addressParts = addresses.data?.map(({ id, ip_address, mac_address }): Part => [id, ip_address, mac_address]);
  const interfaceParts = interfaces.data?.map((row): Part => [row.id, interfaceName(row), row.if_alias ?? null]);
  const portParts = ports.data?.map(({ id, number, protocol, type }): Part => [id, `${number}/${protocol}`, type]);
  const serviceParts = services.data?.map(({ id, name, service_definition }): Part => [id, name, service_definition]);
  return (
    <>
      <PartKind field="ip_address_ids" title="Addresses" parts={addressParts} form={form} />
      <PartKind field="if_entry_ids" title="Interfaces" parts={interfaceParts} form={form} />
      <PartKind field="port_ids" title="Ports" parts={portParts} form={form} />
      <PartKind field="service_ids" title="Services" parts={serviceParts} form={form} />
      {hasMore && (
        <p class="aside">
          Only the first {groupedDigits(PARTS_MAX)} of each kind are shown. Use the API for the others.
        </p>
      )}
    </>
  );
}

type Part = readonly [id: string, name: string, detail: string | null];

interface PartKindProps {
  readonly field: keyof SplitParts;
  readonly title: string;
  readonly parts: readonly Part[] | undefined;
  readonly form: FormState;
}

function PartKind({ field, title, parts = [], form }: PartKindProps) {
  if (parts.length === 0) return null;
  const selectedIds = form.list(field);
  const toggle = (id: string, isSelected: boolean) =>
    form.type({ [field]: isSelected ? [...selectedIds, id] : selectedIds.filter((selectedId) => selectedId !== id) });
  return (
    <fieldset class="identity-parts">
      <legend>{title}</legend>
      {parts.map(([id, name, detail]) => (
        <label key={id}>
          <input
            type="checkbox"
            checked={selectedIds.includes(id)}
            onChange={({ currentTarget: { checked } }) => toggle(id, checked)}
          />{" "}
          <bdi>{name}</bdi> <span class="aside">{detail}</span>
        </label>
      ))}
    </fieldset>
  );
}
