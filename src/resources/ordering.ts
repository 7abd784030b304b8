// Order parameters of lists: group_by, order_by, order_direction over the named fields of a resource. Independent of
// resources: the caller supplies the fields and which of them have a sort key.

import { Type } from "@sinclair/typebox";
import { FIELD_KEY_MAX_LENGTH } from "../base/custom-field-limits.ts";
import { customFieldKey } from "../base/custom-field-names.ts";
import type { AnyKind, Kind, ObservedField, RecordBase } from "../db/kind.ts";
import type { OrderTerm } from "../db/reading/list-query.ts";
import { OneOf, OneOfOr } from "../schemas/schemas.ts";

/** Values of order_direction. */
export const ORDER_DIRECTIONS = ["asc", "desc"] as const;
export type OrderDirection = (typeof ORDER_DIRECTIONS)[number];

export interface OrderParameters<Field extends string> {
  readonly group_by?: Field;
  readonly order_by?: Field;
  readonly order_direction?: OrderDirection;
}

/**
 * Query parameters of a list that can be ordered by `fields` (handbook: api, "Lists").
 * @param hasCustom whether its records have custom fields, which can order it as well
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
 * Translates the parameters to store terms. Ties and unordered lists are sorted by `created_at` and `id`, ascending.
 * Strings sort ignoring case, then by code point; addresses sort numerically: by the kind's sort keys. Custom fields
 * sort by the value in each record; records without one come last in either direction.
 */
export function orderTerms<Field extends string>(query: OrderParameters<Field>, kind: AnyKind): OrderTerm[] {
  const { group_by: group, order_by: order, order_direction: direction = "asc" } = query;
  const term = (field: Field, termDirection: OrderDirection): OrderTerm => ({
    field,
    direction: termDirection,
    byKey: customFieldKey(field) !== null || Object.hasOwn({ ...kind.sortKeys, ...kind.orderKeys }, field),
  });
  const terms: OrderTerm[] = [];
  if (group !== undefined) terms.push(term(group, "asc"));
  // All records of a group have the same value of the grouping field.
  if (order !== undefined && order !== group) terms.push(term(order, direction));
  // Redundant: ties sort this way already, and page order needs no sorting.
  const last = terms.at(-1);
  return last?.field === "created_at" && last.direction === "asc" ? terms.slice(0, -1) : terms;
}
