// Effects of a plan, grouped by record kind and action in display order. Pure.

import { KIND_NAMES } from "../kinds/kinds.ts";
import { ownValue } from "../text/own-value.ts";

/** A plan's action on one record, planned or done. */
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
  /** Changed fields whose current and planned values can be displayed. */
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

/** Fields that list parts, with the kind of the parts. */
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

/** Largest group that is shown expanded. */
const EXPANDED_MAX = 3;

/** Whether the action changes the record. */
export function isChange({ action }: Pick<PlannedAction, "action">): boolean {
  return action !== "Skip" && action !== "Kept";
}

/** Changed fields without displayable values, except parts listed themselves. @param types kinds of changed records */
export function otherFields({ fields, changes = [] }: PlannedAction, types: ReadonlySet<string>): string[] {
  const displayed = new Set(changes.map(({ field }) => field));
  return fields.filter((field) => !displayed.has(field) && !types.has(ownValue(PARTS, field) ?? ""));
}

/** Whether a group is collapsed and shows a count. */
export function isCollapsed({ actions }: PlanGroup): boolean {
  return actions.length > EXPANDED_MAX;
}

/**
 * Groups actions by kind, networks and hosts before their parts, as in differences. Unchanged records come last, and
 * only if there is a reason.
 */
export function planGroups(actions: readonly PlannedAction[]): PlanGroup[] {
  const listed = actions.filter((action) => isChange(action) || action.reason !== undefined);
  const groups = Map.groupBy(listed, ({ action, entity_type }) => `${action} ${entity_type}`);
  const kinds = KIND_NAMES;
  const rankOf = (group: PlanGroup) => {
    const index = kinds.indexOf(group.type);
    return (isChange(group) ? 0 : 2 * kinds.length) + (index < 0 ? kinds.length : index);
  };
  return [...groups.values()]
    .map((group) => {
      const { entity_type: type, action, reason } = group[0] as PlannedAction;
      const hasCommonReason = reason !== undefined && group.every((other) => other.reason === reason);
      return { type, action, actions: group, reason: hasCommonReason ? reason : null };
    })
    .toSorted((a, b) => rankOf(a) - rankOf(b));
}
