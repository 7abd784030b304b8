// Selection of the parts of a host that move to a new one. The plan lists dependents that move along or end.

import { useLayoutEffect, useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { type DraftName, keepDraft, keptDraft } from "../forms/drafts.ts";
import { RecordLink } from "../names/record-link.tsx";
import { interfaceName } from "../names/shown-name.ts";
import { Problems } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { me } from "../session/me.ts";
import { editText } from "../text/editing.ts";
import { identityText } from "../text/identity.ts";
import { PlannedWrite } from "../writes/planned-write.tsx";
import type { Plan } from "../writes/plans.ts";
import { type SplitParts, splitPlan } from "./identity-plans.ts";

/** Longer lists are impractical. */
const PARTS_MAX = 300;
const NAME_MAX_LENGTH = 255;

type Chosen = Readonly<Record<keyof SplitParts, readonly string[]>>;

const NOTHING: Chosen = { ip_address_ids: [], if_entry_ids: [], port_ids: [], service_ids: [] };

interface SplitHostProps {
  readonly id: string;
  onDone(): void;
}

export function SplitHost({ id, onDone }: SplitHostProps) {
  const [kept] = useState(() => keptSplit(id));
  const [isRestored, setRestored] = useState(kept !== null);
  const [name, setName] = useState(kept?.name ?? "");
  const [chosen, setChosen] = useState(kept?.chosen ?? NOTHING);
  const [isPlanned, setPlanned] = useState(false);
  const [made, setMade] = useState<string | null>(null);
  const count = Object.values(chosen).reduce((sum, ids) => sum + ids.length, 0);
  const isTyped = made === null && (count > 0 || name !== "");
  // A layout effect: leaving the page within a frame would otherwise lose the last character.
  useLayoutEffect(() => keepSplit(id, isTyped ? { name, chosen } : null), [id, isTyped, name, chosen]);
  if (isPlanned)
    return (
      <>
        <PlannedWrite
          title={identityText.splitTitle(name.trim())}
          verb={identityText.splitVerb}
          says={identityText.splitFollows}
          isUndoable
          run={async (sending) => {
            const plan = await splitPlan(id, { name: name.trim(), parts: chosen }, sending);
            if (plan.applied) setMade(newHostOf(plan));
            return plan;
          }}
          onEnd={() => {
            if (made !== null) setName("");
            setMade(null);
            setPlanned(false);
          }}
          onDone={() => {
            // Undo leaves no new host.
            setMade((host) => (chosen === NOTHING ? null : host));
            setChosen(NOTHING);
            setRestored(false);
            onDone();
          }}
        />
        {made !== null && (
          <p role="status">
            {identityText.newHost} <RecordLink type="host" id={made} name={name.trim()} />
          </p>
        )}
      </>
    );
  return (
    <form
      class="edit"
      aria-label={identityText.split}
      onSubmit={(event) => {
        event.preventDefault();
        if (count > 0 && name.trim() !== "") setPlanned(true);
      }}
    >
      {isRestored && (
        <p class="note">
          {editText.restored}{" "}
          <button
            type="button"
            onClick={() => {
              setName("");
              setChosen(NOTHING);
              setRestored(false);
            }}
          >
            {editText.discard}
          </button>
        </p>
      )}
      <div class="edit-field">
        <label for="split-name">{identityText.newName}</label>
        <div>
          <input
            id="split-name"
            type="text"
            maxLength={NAME_MAX_LENGTH}
            autoComplete="off"
            dir="auto"
            value={name}
            onInput={({ currentTarget: { value } }) => setName(value)}
          />
        </div>
      </div>
      <Parts id={id} chosen={chosen} onChoose={setChosen} />
      <p class="edit-end">
        <button type="submit" class="primary" disabled={count === 0 || name.trim() === ""}>
          {identityText.showPlan}
        </button>{" "}
        <span class="aside" role="status">
          {identityText.chosen(count)}
        </span>
      </p>
    </form>
  );
}

interface Split {
  readonly name: string;
  readonly chosen: Chosen;
}

/** Draft of a host's split; null for none. */
function keptSplit(id: string): Split | null {
  const draft = keptDraft(draftName(id));
  if (draft === null) return null;
  const { name, ...chosen } = draft.typed as unknown as Split["chosen"] & { readonly name: string };
  return { name, chosen };
}

function keepSplit(id: string, split: Split | null): void {
  const typed = split === null ? {} : { ...split.chosen, name: split.name };
  keepDraft(draftName(id), split === null ? null : { base: {}, tag: "", typed, reason: "" });
}

function draftName(id: string): DraftName {
  return { userId: me.peek()?.id ?? "", kind: "split", id };
}

function newHostOf({ actions }: Plan): string | null {
  return actions.find(({ action, entity_type }) => action === "Created" && entity_type === "host")?.id ?? null;
}

interface PartsProps {
  readonly id: string;
  readonly chosen: Chosen;
  onChoose(chosen: Chosen): void;
}

function Parts({ id, chosen, onChoose }: PartsProps) {
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
      title: identityText.addresses,
      parts: (addresses.data ?? []).map((each) => ({ id: each.id, name: each.ip_address, beside: each.mac_address })),
    },
    {
      field: "if_entry_ids",
      title: identityText.interfaces,
      parts: (interfaces.data ?? []).map((each) => ({
        id: each.id,
        name: interfaceName(each),
        beside: each.if_alias ?? null,
      })),
    },
    {
      field: "port_ids",
      title: identityText.ports,
      parts: (ports.data ?? []).map((each) => ({
        id: each.id,
        name: `${each.number}/${each.protocol}`,
        beside: each.type,
      })),
    },
    {
      field: "service_ids",
      title: identityText.services,
      parts: (services.data ?? []).map((each) => ({ id: each.id, name: each.name, beside: each.service_definition })),
    },
  ];
  return (
    <>
      {kinds.map((kind) => (
        <PartKind key={kind.field} kind={kind} chosen={chosen} onChoose={onChoose} />
      ))}
      {isMore && <p class="aside">{identityText.moreParts(PARTS_MAX)}</p>}
    </>
  );
}

interface Kind {
  readonly field: keyof SplitParts;
  readonly title: string;
  readonly parts: readonly { readonly id: string; readonly name: string; readonly beside: string | null }[];
}

function PartKind({
  kind: { field, title, parts },
  chosen,
  onChoose,
}: Omit<PartsProps, "id"> & { readonly kind: Kind }) {
  if (parts.length === 0) return null;
  const ids = chosen[field];
  const choose = (id: string, isChosen: boolean) =>
    onChoose({ ...chosen, [field]: isChosen ? [...ids, id] : ids.filter((each) => each !== id) });
  return (
    <fieldset class="identity-parts">
      <legend>{title}</legend>
      {parts.map(({ id, name, beside }) => (
        <label key={id}>
          <input
            type="checkbox"
            checked={ids.includes(id)}
            onChange={({ currentTarget: { checked } }) => choose(id, checked)}
          />{" "}
          <bdi>{name}</bdi> <span class="aside">{beside}</span>
        </label>
      ))}
    </fieldset>
  );
}
