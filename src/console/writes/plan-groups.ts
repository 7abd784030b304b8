// What a plan comes to, in the order in which one reads it: what is done to the records of one kind stands together.
// Plain data and functions.

import { KIND_NAMES } from "../kinds/kinds.ts";
import { ownValue } from "../text/own-value.ts";

/** What is done, or would be done, to one record. */
export interface PlannedAction {
  readonly entity_type: string;
  /** Null of what is yet to be made. */
  readonly id: string | null;
  readonly name?: string;
  /** The host that it is a part of. */
  readonly host_id?: string;
  readonly action: "Create" | "Update" | "Delete" | "Skip" | "Moved" | "Kept" | "Closed" | "Created" | "Changed";
  /** The names of all that changes. */
  readonly fields: readonly string[];
  /** Of those that have values to tell: from what they are to what they will be. */
  readonly changes?: readonly { readonly field: string; readonly from?: unknown; readonly to?: unknown }[];
  readonly reason?: string;
}

/** Records of one kind to which the same is done. */
export interface PlanGroup {
  readonly type: string;
  readonly action: PlannedAction["action"];
  readonly actions: readonly PlannedAction[];
  /** Where it is the same for all of them. */
  readonly reason: string | null;
}

/** Fields that say which parts there are, and of which kind these are. */
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

/** Up to so many are read one below another. */
const UNFOLDED_MAX = 3;

/** What does nothing to a record. */
export function isChange({ action }: Pick<PlannedAction, "action">): boolean {
  return action !== "Skip" && action !== "Kept";
}

/**
 * The fields of an update that have no values to tell, without those of parts which are told of as records.
 * @param types the kinds of which records change
 */
export function untoldFields({ fields, changes = [] }: PlannedAction, types: ReadonlySet<string>): string[] {
  const told = new Set(changes.map(({ field }) => field));
  return fields.filter((field) => !told.has(field) && !types.has(ownValue(PARTS, field) ?? ""));
}

/** Whether a group is counted, and opened by whoever wants to read it. */
export function isFolded({ actions }: PlanGroup): boolean {
  return actions.length > UNFOLDED_MAX;
}

/**
 * By kind, hosts and networks before their parts, as differences are told. What stays as it is says so only where there
 * is a reason to, and after the rest.
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
