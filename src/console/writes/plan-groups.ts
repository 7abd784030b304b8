// Effects of a plan in reading order, grouped by record kind and action. Pure.

import { KIND_NAMES } from "../kinds/kinds.ts";
import { ownValue } from "../text/own-value.ts";

/** Action of a plan on one record, planned or done. */
export interface PlannedAction {
  readonly entity_type: string;
  /** Null for a record to be created. */
  readonly id: string | null;
  readonly name?: string;
  /** Host that the record belongs to. */
  readonly host_id?: string;
  readonly action: "Create" | "Update" | "Delete" | "Skip" | "Moved" | "Kept" | "Closed" | "Created" | "Changed";
  /** Names of all changed fields. */
  readonly fields: readonly string[];
  /** Fields with displayable values, current and planned. */
  readonly changes?: readonly { readonly field: string; readonly from?: unknown; readonly to?: unknown }[];
  readonly reason?: string;
}

/** Records of one kind with the same action. */
export interface PlanGroup {
  readonly type: string;
  readonly action: PlannedAction["action"];
  readonly actions: readonly PlannedAction[];
  /** Reason, if common to all records. */
  readonly reason: string | null;
}

/** Fields that list parts, with the kind of these parts. */
const PARTS: Readonly<Record<string, string>> = {
  ip_addresses: "ip_address",
  ports: "port",
  services: "service",
  bindings: "binding",
  interfaces: "if_entry",
  fdb_macs: "fdb_entry",
  credential_assignments: "credential_assignment",
  host_assignments: "credential_assignment",
  assigned_network_ids: "credential_assignment",
  credential_ids: "credential_assignment",
};

/** Groups up to this size are expanded. */
const UNFOLDED_MAX = 3;

/** Whether the action changes the record. */
export function isChange({ action }: Pick<PlannedAction, "action">): boolean {
  return action !== "Skip" && action !== "Kept";
}

/**
 * Updated fields without displayable values, except for parts that are listed as records.
 * @param types kinds of the changed records
 */
export function untoldFields({ fields, changes = [] }: PlannedAction, types: ReadonlySet<string>): string[] {
  const told = new Set(changes.map(({ field }) => field));
  return fields.filter((field) => !told.has(field) && !types.has(ownValue(PARTS, field) ?? ""));
}

/** Whether a group is counted and collapsed. */
export function isFolded({ actions }: PlanGroup): boolean {
  return actions.length > UNFOLDED_MAX;
}

/**
 * Groups by kind, hosts and networks before their parts, in the order of differences. Unchanged records are listed
 * last, and only with a reason.
 */
export function planGroups(actions: readonly PlannedAction[]): PlanGroup[] {
  const groups = new Map<string, PlannedAction[]>();
  for (const each of actions) {
    if (!isChange(each) && each.reason === undefined) continue;
    const name = `${each.action} ${each.entity_type}`;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [each]);
    else group.push(each);
  }
  const kinds = KIND_NAMES;
  const placeOf = (group: PlanGroup) => {
    const place = kinds.indexOf(group.type);
    return (isChange(group) ? 0 : 2 * kinds.length) + (place < 0 ? kinds.length : place);
  };
  return [...groups.values()]
    .map((group) => {
      const { entity_type: type, action, reason } = group[0] as PlannedAction;
      const isSame = reason !== undefined && group.every((each) => each.reason === reason);
      return { type, action, actions: group, reason: isSame ? reason : null };
    })
    .toSorted((one, other) => placeOf(one) - placeOf(other));
}
