// Selection of the parts of a host that move to a new one. The plan lists dependents that move along or end.

import { useState } from "preact/hooks";
import { LIMITS } from "#limits";
import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { Restored } from "../forms/ask-first.tsx";
import { TextField } from "../forms/fields.tsx";
import { type FormState, useForm } from "../forms/use-form.ts";
import { RecordLink } from "../names/record-link.tsx";
import { interfaceName } from "../names/shown-name.ts";
import { Problems } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { me } from "../session/me.ts";
import { groupedDigits } from "../text/digits.ts";
import { isolated } from "../text/isolated.ts";
import { PlannedWrite } from "../writes/planned-write.tsx";
import type { Plan } from "../writes/plans.ts";
import { type SplitParts, splitPlan } from "./identity-plans.ts";

/** Longer lists are impractical. */
const PARTS_MAX = 300;

const FIELDS = ["ip_address_ids", "if_entry_ids", "port_ids", "service_ids"] as const;

interface SplitHostProps {
  readonly id: string;
  onDone(): void;
}

export function SplitHost({ id, onDone }: SplitHostProps) {
  const begun = { name: "", ip_address_ids: [], if_entry_ids: [], port_ids: [], service_ids: [] };
  const form = useForm({ id: "split", draft: { userId: me.peek()?.id ?? "", kind: "split", id }, begun });
  const [isPlanned, setPlanned] = useState(false);
  const [made, setMade] = useState<string | null>(null);
  const name = form.text("name");
  const parts = Object.fromEntries(FIELDS.map((field) => [field, form.list(field)])) as unknown as SplitParts;
  const count = FIELDS.reduce((sum, field) => sum + parts[field].length, 0);
  if (isPlanned)
    return (
      <>
        <PlannedWrite
          title={`Split off ${isolated(name)}`}
          verb="Split it"
          says="Scans do not bring discovered parts back to the old host."
          isUndoable
          run={async (sending) => {
            const plan = await splitPlan(id, { name, parts }, sending);
            if (plan.applied) setMade(newHostOf(plan));
            return plan;
          }}
          onEnd={() => {
            if (made !== null) form.reset();
            setMade(null);
            setPlanned(false);
          }}
          onDone={() => {
            // Undo leaves no new host.
            setMade((host) => (count === 0 ? null : host));
            form.reset({ name });
            onDone();
          }}
        />
        {made !== null && (
          <p role="status">
            The new host: <RecordLink type="host" id={made} name={name} />
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
        if (count > 0 && name !== "") setPlanned(true);
      }}
    >
      {form.isRestored && <Restored onDiscard={() => form.reset()} />}
      <TextField form={form} label="Name of the new host" limits={LIMITS.HostSplit.name} />
      <Parts id={id} form={form} />
      <p class="edit-end">
        <button type="submit" class="primary" disabled={count === 0 || name === ""}>
          Show what would change…
        </button>{" "}
        <span class="aside" role="status">
          {count === 0 ? "Nothing is chosen yet." : `${groupedDigits(count)} chosen`}
        </span>
      </p>
    </form>
  );
}

function newHostOf({ actions }: Plan): string | null {
  return actions.find(({ action, entity_type }) => action === "Created" && entity_type === "host")?.id ?? null;
}

function Parts({ id, form }: { readonly id: string; readonly form: FormState }) {
  const query = { host_id: id, limit: PARTS_MAX };
  const live = { how: "refresh" as const, host_id: id };
  const addresses = useAnswer(
    read("/api/v1/ip-addresses", { query: { ...query, order_by: "ip_address" as const } }),
    live,
  );
  const interfaces = useAnswer(
    read("/api/v1/if-entries", { query: { ...query, order_by: "if_index" as const } }),
    live,
  );
  const ports = useAnswer(read("/api/v1/ports", { query: { ...query, order_by: "number" as const } }), live);
  const services = useAnswer(read("/api/v1/services", { query }), live);
  const all = [addresses, interfaces, ports, services];
  if (all.some(({ problem }) => problem !== undefined)) return <Problems of={all} />;
  if (all.some(({ data }) => data === undefined)) return <Waiting />;
  const isMore = all.some(({ meta }) => meta?.pagination.has_more === true);
  const kinds: readonly Kind[] = [
    {
      field: "ip_address_ids",
      title: "Addresses",
      parts: (addresses.data ?? []).map((each) => ({ id: each.id, name: each.ip_address, beside: each.mac_address })),
    },
    {
      field: "if_entry_ids",
      title: "Interfaces",
      parts: (interfaces.data ?? []).map((each) => ({
        id: each.id,
        name: interfaceName(each),
        beside: each.if_alias ?? null,
      })),
    },
    {
      field: "port_ids",
      title: "Ports",
      parts: (ports.data ?? []).map((each) => ({
        id: each.id,
        name: `${each.number}/${each.protocol}`,
        beside: each.type,
      })),
    },
    {
      field: "service_ids",
      title: "Services",
      parts: (services.data ?? []).map((each) => ({ id: each.id, name: each.name, beside: each.service_definition })),
    },
  ];
  return (
    <>
      {kinds.map((kind) => (
        <PartKind key={kind.field} kind={kind} form={form} />
      ))}
      {isMore && (
        <p class="aside">
          The first {groupedDigits(PARTS_MAX)} of each are shown. Others are split off through the API.
        </p>
      )}
    </>
  );
}

interface Kind {
  readonly field: keyof SplitParts;
  readonly title: string;
  readonly parts: readonly { readonly id: string; readonly name: string; readonly beside: string | null }[];
}

function PartKind({ kind, form }: { readonly kind: Kind; readonly form: FormState }) {
  const { field, title, parts } = kind;
  if (parts.length === 0) return null;
  const chosen = form.list(field);
  const choose = (id: string, isChosen: boolean) =>
    form.type({ [field]: isChosen ? [...chosen, id] : chosen.filter((each) => each !== id) });
  return (
    <fieldset class="identity-parts">
      <legend>{title}</legend>
      {parts.map(({ id, name, beside }) => (
        <label key={id}>
          <input
            type="checkbox"
            checked={chosen.includes(id)}
            onChange={({ currentTarget: { checked } }) => choose(id, checked)}
          />{" "}
          <bdi>{name}</bdi> <span class="aside">{beside}</span>
        </label>
      ))}
    </fieldset>
  );
}
