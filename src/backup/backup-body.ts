// Response schema of a backup, and its filterable fields.

import { Type } from "@sinclair/typebox";
import { RowFields, type RowList } from "../records/row-fields.ts";
import { Nullable, OneOf, Timestamp } from "../schemas/schemas.ts";
import { BACKUP_STATES, type Backup as BackupView } from "./backups.ts";

export const BackupBody = Type.Object(
  {
    name: Type.String({ description: "The file name, in the `backups` folder of the data folder." }),
    state: OneOf(BACKUP_STATES, { description: "Done: copied, verified and on disk." }),
    created_at: Timestamp,
    size_bytes: Nullable(Type.Integer({ minimum: 0 })),
    sequence: Nullable(Type.Integer({ minimum: 0 }), { description: "The newest transaction in the backup." }),
    hash: Nullable(Type.String(), {
      description: "The hash of that transaction, which covers the entire ledger up to it.",
    }),
    reason: Nullable(Type.String(), {
      description: "Why the backup failed. Failures are listed until the appliance stops.",
    }),
  },
  { $id: "Backup" },
);

export const BACKUP_ROWS: RowList = {
  name: "backup",
  path: "backups",
  row: BackupBody,
  unfilterable: { hash: "is a hash: compare it with that of GET /api/v1/ledger" },
};
export const BACKUP_FIELDS = new RowFields(BACKUP_ROWS);

export const BACKUP_EXAMPLE: BackupView = {
  name: "netledger-20261121T091500123Z.db",
  state: "Done",
  created_at: "2026-11-21T09:15:00.123Z",
  size_bytes: 6_929_547_264,
  sequence: 131_725,
  hash: "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0",
  reason: null,
};
