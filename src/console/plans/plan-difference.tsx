// Plan effects, listed like a diff: each record and field with its current and planned value. Large groups of one kind
// are collapsed and show a count.

import { useState } from "preact/hooks";
import { ChangedSubject } from "../field-values/changed-subject.tsx";
import { FieldChanges } from "../field-values/field-changes.tsx";
import { kindWords } from "../kinds/kinds.ts";
import { fieldTitle } from "../names/custom-fields.ts";
import { changesText } from "../text/changes.ts";
import { groupedDigits } from "../text/digits.ts";
import { ownValue } from "../text/own-value.ts";
import { isChange, isCollapsed, otherFields, type PlanGroup, type PlannedAction, planGroups } from "./plan-groups.ts";
import { PlanReason } from "./plan-reason.tsx";

/** Lines shown per click on "Show more". */
const SHOWN_MAX = 200;

/** CSS class and verb for each action. */
const ACTIONS: Readonly<Record<PlannedAction["action"], readonly [sign: string, word: string]>> = {
  Create: ["added", "Restores"],
  Created: ["added", "Creates"],
  Update: ["changed", "Changes"],
  Changed: ["changed", "Changes"],
  Moved: ["changed", "Moves"],
  Delete: ["removed", "Removes"],
  Closed: ["removed", "Closes"],
  Skip: ["left", "Skips"],
  Kept: ["left", "Keeps"],
};

type PlanDifferenceProps = Readonly<{ actions: readonly PlannedAction[]; stateAt: string | null }>;

/** @param stateAt timestamp at which names are looked up, since the plan may restore deleted records; null for now */
export function PlanDifference({ actions, stateAt }: PlanDifferenceProps) {
  const groups = planGroups(belongToOneHost(actions) ? actions.map(({ host_id: _, ...action }) => action) : actions);
  const listedCount = groups.reduce((sum, { actions: { length } }) => sum + length, 0);
  const plan = { stateAt, types: new Set(groups.filter(isChange).map(({ type }) => type)) };
  return (
    <>
      {actions.some(({ changes = [] }) => changes.length > 0) && <p class="aside">This will change:</p>}
      <ul class="difference plan-difference">
        {groups.map((group) =>
          isCollapsed(group) ? (
            <li key={`${group.action} ${group.type}`}>
              <CollapsedGroup group={group} plan={plan} />
            </li>
          ) : (
            group.actions.map((action) => <Line key={keyOf(action)} planned={action} plan={plan} />)
          ),
        )}
      </ul>
      {listedCount < actions.length && <p class="aside">{groupedDigits(actions.length - listedCount)} unchanged.</p>}
    </>
  );
}

/** Properties shared by all lines of a plan. */
interface PlanContext {
  readonly stateAt: string | null;
  /** Kinds of the changed records. */
  readonly types: ReadonlySet<string>;
}

/** Whether all parts belong to a single host that is listed itself, so that its name can be omitted. */
function belongToOneHost(actions: readonly PlannedAction[]): boolean {
  const [hostId, ...others] = new Set(actions.flatMap(({ host_id = [] }) => host_id));
  return others.length === 0 && actions.some(({ entity_type, id }) => entity_type === "host" && id === hostId);
}

function keyOf({ action, entity_type, id, name }: PlannedAction): string {
  return `${action} ${entity_type} ${id ?? name}`;
}

/** Renders its content only when open: a plan may have thousands of records, each with names to request. */
function CollapsedGroup({ group, plan }: { readonly group: PlanGroup; readonly plan: PlanContext }) {
  const { type, action, actions, reason } = group;
  const [isOpen, setOpen] = useState(false);
  const [shown, setShown] = useState(SHOWN_MAX);
  const remaining = actions.length - shown;
  return (
    <details class="plan-group" onToggle={({ currentTarget: { open } }) => setOpen(open)}>
      <summary>
        <Sign action={action} /> {groupedDigits(actions.length)} {kindWordsOf(type)[1]}
        {reason !== null && <Reason text={reason} plan={plan} />}
      </summary>
      {isOpen && (
        <ul class="difference">
          {actions.slice(0, shown).map((planned) => (
            <Line key={keyOf(planned)} planned={planned} plan={plan} hasReason={reason === null} />
          ))}
          {remaining > 0 && (
            <li>
              <button type="button" onClick={() => setShown(shown + SHOWN_MAX)}>
                {changesText.showMore(Math.min(SHOWN_MAX, remaining), remaining)}
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
  readonly plan: PlanContext;
  /** Whether the line shows its reason; otherwise, the group does. */
  readonly hasReason?: boolean;
}

function Line({ planned, plan, hasReason = true }: LineProps) {
  const { entity_type: type, id, name = "", host_id: hostId = null, action, fields, changes = [], reason } = planned;
  const [word] = kindWordsOf(type);
  const { stateAt, types } = plan;
  const others = otherFields(planned, types);
  return (
    <li>
      <Sign action={action} />{" "}
      {id === null ? (
        <>
          <span class="aside">{word}</span> <bdi>{name}</bdi>
        </>
      ) : (
        <ChangedSubject {...{ type, id, name, hostId, word }} at={action === "Create" ? stateAt : null} />
      )}
      {hasReason && reason !== undefined && <Reason text={reason} plan={plan} />}
      {changes.length > 0 && <FieldChanges changes={changes} from={null} to={stateAt} />}
      {action === "Update" && fields.length > 0 && others.length + changes.length === 0 && (
        <p class="aside plan-also">Only its ports, addresses and other child records change; see below.</p>
      )}
      {action === "Update" && others.length > 0 && (
        <p class="aside plan-also">{`${changes.length > 0 ? "Also: " : ""}${others.map(fieldTitle).join(", ")}`}</p>
      )}
    </li>
  );
}

function Reason({ text, plan: { stateAt } }: { readonly text: string; readonly plan: PlanContext }) {
  return (
    <span class="aside">
      {" "}
      <PlanReason text={text} at={stateAt} />
    </span>
  );
}

function Sign({ action }: Pick<PlannedAction, "action">) {
  const [sign, word] = ACTIONS[action];
  return <span class={`sign ${sign}`}>{word}</span>;
}

/** Words for kinds that `kinds.ts` does not list, singular and plural. */
const OTHER_KINDS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  credential_assignment: ["credential assignment", "credential assignments"],
  fdb_entry: ["forwarding entry", "forwarding entries"],
};

function kindWordsOf(type: string): readonly [one: string, many: string] {
  return ownValue(OTHER_KINDS, type) ?? kindWords(type);
}
