// Transactions as rows: response schema, filterable fields, and their SQL.

import { Type } from "@sinclair/typebox";
import { instantSql } from "../db/reading/condition-sql.ts";
import { RowFields, type RowList } from "../records/row-fields.ts";
import { CHANGE_TYPES, OPERATIONS, TransactionOfChange } from "./change-view.ts";
import { HIGHLIGHTS_EXAMPLE, Highlights } from "./highlight-rows.ts";

export const Transaction = Type.Object(
  {
    ...TransactionOfChange.properties,
    command: Type.String({ description: "The command, such as `host.update`." }),
    changes: Type.Record(
      Type.String(),
      Type.Object(
        Object.fromEntries(OPERATIONS.map((operation) => [operation, Type.Optional(Type.Integer({ minimum: 1 }))])),
      ),
      { description: "Versions by kind of record and operation, of what the caller reaches." },
    ),
    highlights: Type.Optional(Highlights),
  },
  { $id: "Transaction" },
);

export const TRANSACTION_ROWS: RowList = {
  name: "transaction",
  path: "transactions",
  row: Transaction,
  keys: { changes: CHANGE_TYPES },
  unasked: { highlights: "is computed when it is shown" },
};
export const TRANSACTION_FIELDS = new RowFields(TRANSACTION_ROWS);

/** JSON object with a field of transaction t; null for its changes, which depend on the caller. */
export function transactionObjectSql(field: string): string | null {
  switch (field) {
    case "sequence":
    case "request_id":
    case "reason":
      return `json_object('${field}', t.${field})`;
    case "at":
      return `json_object('at', ${instantSql("t.at")})`;
    case "actor":
      return "json_object('actor', json_object('type', t.actor_type, 'id', t.actor_id, 'name', t.actor_name))";
    case "command":
      return "json_object('command', t.source)";
    default:
      return null;
  }
}

export const LISTED_TRANSACTION_EXAMPLE = {
  sequence: 42,
  at: "2026-11-21T09:15:00.123Z",
  actor: { type: "User", id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0003", name: "Ada" },
  request_id: "0f3a1c9be2d4-1x",
  reason: "CHG-4711: move the uplink",
  command: "host.update",
  changes: { host: { Updated: 1 }, if_entry: { Updated: 1 }, port: { Created: 2 } },
  highlights: HIGHLIGHTS_EXAMPLE,
};
