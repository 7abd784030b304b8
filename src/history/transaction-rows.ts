// Transactions as rows: response schema, filterable fields, and their SQL.

import { Type } from "@sinclair/typebox";
import { instantSql } from "../db/reading/condition-sql.ts";
import { RowFields, type RowList } from "../records/row-fields.ts";
import { CHANGE_TYPES, OPERATIONS, TRANSACTION_EXAMPLE, TransactionOfChange } from "./change-view.ts";
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
      { description: "Number of versions by kind of record and operation, within the caller's reach." },
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
  unfilterable: { highlights: "is computed when it is shown" },
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
  ...TRANSACTION_EXAMPLE,
  command: "host.update",
  changes: { host: { Updated: 1 }, if_entry: { Updated: 1 }, port: { Created: 2 } },
  highlights: HIGHLIGHTS_EXAMPLE,
};
