// Effects of a plan, listed like differences: each record and field from its current to its planned value. Large groups
// of one kind are counted and collapsed.

import { useState } from "preact/hooks";
import { kindWords } from "../kinds/kinds.ts";
import { fieldTitle } from "../names/custom-fields.ts";
import { changesText } from "../text/changes.ts";
import { counted, groupedDigits } from "../text/digits.ts";
import { ownValue } from "../text/own-value.ts";
import { ChangedSubject } from "../values/changed-subject.tsx";
import { FieldChanges } from "../values/field-changes.tsx";
import { isChange, isFolded, type PlanGroup, type PlannedAction, planGroups, untoldFields } from "./plan-groups.ts";
import { PlanReason } from "./plan-reason.tsx";

/** Lines shown before the rest is collapsed. */
const SHOWN_MAX = 200;

const SIGNS: Readonly<Record<PlannedAction["action"], string>> = {
  Create: "added",
  Created: "added",
  Update: "changed",
  Changed: "changed",
  Moved: "changed",
  Delete: "removed",
  Closed: "removed",
  Skip: "left",
  Kept: "left",
};

interface PlanDifferenceProps {
  readonly actions: readonly PlannedAction[];
  /** Instant for resolving planned names: records gone now may return with the plan; null for now. */
  readonly thenAt: string | null;
}

export function PlanDifference({ actions, thenAt }: PlanDifferenceProps) {
  const groups = planGroups(ofOneHost(actions) ? actions.map(({ host_id: _, ...each }) => each) : actions);
  const told = groups.reduce((sum, { actions: { length } }) => sum + length, 0);
  const plan = { thenAt, types: new Set(groups.filter(isChange).map(({ type }) => type)) };
  return (
    <>
      {actions.some(({ changes = [] }) => changes.length > 0) && <p class="aside">This will change:</p>}
      <ul class="difference plan-difference">
        {groups.map((group) =>
          isFolded(group) ? (
            <li key={`${group.action} ${group.type}`}>
              <Folded group={group} plan={plan} />
            </li>
          ) : (
            group.actions.map((each) => <Line key={keyOf(each)} planned={each} plan={plan} />)
          ),
        )}
      </ul>
      {told < actions.length && <p class="aside">{counted(actions.length - told, "stays", "stay")} as is.</p>}
    </>
  );
}

/** Properties common to all lines of a plan. */
interface WholePlan {
  readonly thenAt: string | null;
  /** Kinds of the changed records. */
  readonly types: ReadonlySet<string>;
}

/** Whether all parts belong to one host that is listed itself, so that its name can be omitted. */
function ofOneHost(actions: readonly PlannedAction[]): boolean {
  const [hostId, ...others] = new Set(actions.flatMap(({ host_id = [] }) => host_id));
  return others.length === 0 && actions.some(({ entity_type, id }) => entity_type === "host" && id === hostId);
}

function keyOf({ action, entity_type, id, name }: PlannedAction): string {
  return `${action} ${entity_type} ${id ?? name}`;
}

/** Renders its content on opening only: a plan may have thousands of records, each with names to request. */
function Folded({ group, plan }: { readonly group: PlanGroup; readonly plan: WholePlan }) {
  const { type, action, actions, reason } = group;
  const [isOpen, setOpen] = useState(false);
  const [shown, setShown] = useState(SHOWN_MAX);
  const left = actions.length - shown;
  return (
    <details class="plan-group" onToggle={({ currentTarget: { open } }) => setOpen(open)}>
      <summary>
        <Sign action={action} /> {groupedDigits(actions.length)} {wordsOf(type)[1]}
        {reason !== null && <Reason text={reason} plan={plan} />}
      </summary>
      {isOpen && (
        <ul class="difference">
          {actions.slice(0, shown).map((each) => (
            <Line key={keyOf(each)} planned={each} plan={plan} hasReason={reason === null} />
          ))}
          {left > 0 && (
            <li>
              <button type="button" onClick={() => setShown(shown + SHOWN_MAX)}>
                {changesText.showMore(Math.min(SHOWN_MAX, left), left)}
              </button>
            </li>
          )}
        </ul>
      )}
    </details>
  );
}

interface LineProps {
  readonly planned: PlannedAction;
  readonly plan: WholePlan;
  /** Whether the line shows its reason; else the group does. */
  readonly hasReason?: boolean;
}

/** Changed fields without displayable values. */
const planAlso = (fields: readonly string[], hasValues: boolean) => `${hasValues ? "Also: " : ""}${fields.join(", ")}`;

function Line({ planned, plan, hasReason = true }: LineProps) {
  const { entity_type: type, id, name = "", host_id: hostId = null, action, fields, changes = [], reason } = planned;
  const [word] = wordsOf(type);
  const { thenAt, types } = plan;
  const others = untoldFields(planned, types);
  return (
    <li>
      <Sign action={action} />{" "}
      {id === null ? (
        <>
          <span class="aside">{word}</span> <bdi>{name}</bdi>
        </>
      ) : (
        <ChangedSubject
          type={type}
          id={id}
          name={name}
          at={action === "Create" ? thenAt : null}
          hostId={hostId}
          word={word}
        />
      )}
      {hasReason && reason !== undefined && <Reason text={reason} plan={plan} />}
      {changes.length > 0 && <FieldChanges changes={changes} from={null} to={thenAt} />}
      {action === "Update" && fields.length > 0 && others.length + changes.length === 0 && (
        <p class="aside plan-also">Only what belongs to it, as below.</p>
      )}
      {action === "Update" && others.length > 0 && (
        <p class="aside plan-also">{planAlso(others.map(fieldTitle), changes.length > 0)}</p>
      )}
    </li>
  );
}

function Reason({ text, plan: { thenAt } }: { readonly text: string; readonly plan: WholePlan }) {
  return (
    <span class="aside">
      {" "}
      <PlanReason text={text} at={thenAt} />
    </span>
  );
}

const ACTIONS = {
  Create: "Brings back",
  Update: "Changes",
  Delete: "Removes",
  Skip: "Leaves",
  Moved: "Moves",
  Kept: "Keeps",
  Closed: "Closes",
  Created: "Makes",
  Changed: "Changes",
};

function Sign({ action }: Pick<PlannedAction, "action">) {
  return <span class={`sign ${SIGNS[action]}`}>{ACTIONS[action]}</span>;
}

/** Kinds without a page of their own, singular and plural. */
const UNTOLD: Readonly<Record<string, readonly [one: string, many: string]>> = {
  credential_assignment: ["credential assignment", "credential assignments"],
  fdb_entry: ["forwarding entry", "forwarding entries"],
};

function wordsOf(type: string): readonly [one: string, many: string] {
  return ownValue(UNTOLD, type) ?? kindWords(type);
}
