// Sort order of a list, for rows read in another order: text ignores case, addresses sort numerically. Pure.

import { ownValue } from "../text/own-value.ts";

/** Sort parameters of a list request. */
interface Order {
  readonly order_by?: string;
  readonly order_direction?: "asc" | "desc";
}

/** Comparison function of an order; null for an order by reference, which only the API can determine. */
export function rowOrder({ order_by, order_direction }: Order): ((a: unknown, b: unknown) => number) | null {
  if (order_by === undefined || order_by.endsWith("_id")) return null;
  const sign = order_direction === "desc" ? -1 : 1;
  // `custom_fields.rack` is nested in the record.
  const path = order_by.split(".");
  const isCustom = path.length > 1;
  const keyOf = (row: unknown) => sortKey(path.reduce(valueIn, row));
  return (a, b) => {
    const [left, right] = [keyOf(a), keyOf(b)];
    if (left === right) return 0;
    // As in the API: missing values come first in ascending order; for custom fields, last in both directions.
    if (left === null || right === null) return (left === null ? -1 : 1) * (isCustom ? -1 : sign);
    return (left < right ? -1 : 1) * sign;
  };
}

function valueIn(record: unknown, name: string): unknown {
  return typeof record === "object" ? ownValue(record as Readonly<Record<string, unknown>> | null, name) : undefined;
}

function sortKey(value: unknown): string | number | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "number" || typeof value === "boolean") return Number(value);
  const text = String(value);
  return addressKey(text) ?? text.toLowerCase();
}

/** Sort key of an IP address, IPv4 first; null for other text. */
export function addressKey(text: string): string | null {
  if (/^(?:\d{1,3}\.){3}\d{1,3}$/.test(text)) return `4${padded(text.split("."), 3)}`;
  if (!/^[0-9a-f:]+$/.test(text) || !text.includes(":") || /^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$/.test(text)) return null;
  const [head = "", tail] = text.split("::");
  const groups = (part: string) => part.split(":").filter((group) => group !== "");
  const [first, last] = [groups(head), groups(tail ?? "")];
  const missing = tail === undefined ? 0 : 8 - first.length - last.length;
  return `6${padded([...first, ...Array.from({ length: Math.max(0, missing) }, () => "0"), ...last], 4)}`;
}

const padded = (parts: readonly string[], digits: number) => parts.map((part) => part.padStart(digits, "0")).join("");
