// The order parameters of lists: group_by, order_by, order_direction over a resource's own named fields.
// Must not know any resource: which fields there are, and which of them are ordered by a key, is said by the caller.

import { Type } from "@sinclair/typebox";
import { FIELD_KEY_MAX_LENGTH } from "../base/custom-field-limits.ts";
import { customFieldKey } from "../base/custom-field-names.ts";
import type { AnyKind, Kind, ObservedField, RecordBase } from "../db/kind.ts";
import type { OrderTerm } from "../db/reading/list-query.ts";
import { OneOf, OneOfOr } from "../schemas/schemas.ts";

/** OrderDirection. */
export const ORDER_DIRECTIONS = ["asc", "desc"] as const;
export type OrderDirection = (typeof ORDER_DIRECTIONS)[number];

export interface OrderParameters<Field extends string> {
  readonly group_by?: Field;
  readonly order_by?: Field;
  readonly order_direction?: OrderDirection;
}

/**
 * The query parameters of a list that can be ordered by `fields` (handbook: api, "Lists").
 * @param hasCustom whether its records have custom fields, which order it as well
 */
export function orderQuery<R extends RecordBase, const Field extends (keyof R & string) | ObservedField>(
  _kind: Kind<R>,
  fields: readonly Field[],
  hasCustom = false,
) {
  return {
    group_by: Type.Optional(orderField(fields, hasCustom, "The primary order, for grouping; always ascending.")),
    order_by: Type.Optional(orderField(fields, hasCustom, "The order within groups, or of the whole list.")),
    order_direction: Type.Optional(
      OneOf(ORDER_DIRECTIONS, { default: "asc", description: "Of order_by alone; without order_by it has no effect." }),
    ),
  };
}

function orderField<Field extends string>(fields: readonly Field[], hasCustom: boolean, description: string) {
  if (!hasCustom) return OneOf(fields, { description });
  return OneOfOr<Field, never>(fields, {
    pattern: `^custom_fields\\.[a-z][a-z0-9_]{0,${FIELD_KEY_MAX_LENGTH - 1}}$`,
    sample: "custom_fields.KEY",
    description: `${description} By a custom field: \`custom_fields.KEY\`.`,
  });
}

/**
 * What the parameters mean to the store. Ties, and a list without an order, stand by `created_at` and `id`, ascending.
 * Texts are ordered without regard to case, then by code point, addresses as numbers: by the kind's keys for them.
 * Custom fields likewise, by the value that each record has; those without one come last, whatever the direction.
 */
export function orderTerms<Field extends string>(query: OrderParameters<Field>, kind: AnyKind): OrderTerm[] {
  const { group_by: group, order_by: order, order_direction: direction = "asc" } = query;
  const term = (field: Field, way: OrderDirection): OrderTerm => ({
    field,
    direction: way,
    byKey: customFieldKey(field) !== null || Object.hasOwn({ ...kind.sortKeys, ...kind.orderKeys }, field),
  });
  const terms: OrderTerm[] = [];
  if (group !== undefined) terms.push(term(group, "asc"));
  // Within a group all have the same value of the field that they are grouped by.
  if (order !== undefined && order !== group) terms.push(term(order, direction));
  // Ties stand so anyhow, and in page order a list need not be gone through.
  const last = terms.at(-1);
  return last?.field === "created_at" && last.direction === "asc" ? terms.slice(0, -1) : terms;
}
