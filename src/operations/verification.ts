// Verification of the ledger as returned by the API, with its limits and filter fields. Verifies nothing itself.

import { type Static, Type } from "@sinclair/typebox";
import { RowFields, type RowList } from "../records/row-fields.ts";
import { Nullable, OneOf, Timestamp, Uuid } from "../schemas/schemas.ts";

export const VERIFICATION_STATUSES = ["Running", "Completed", "Failed", "Cancelled", "Interrupted"] as const;

/** Number of verifications kept, newest first. */
export const VERIFICATIONS_KEPT = 20;
/** Findings listed per verification; the rest are counted. */
export const FINDINGS_LISTED = 100;
/** Maximum length of a finding's place and message in characters; the rest is truncated. */
export const FINDING_TEXT_MAX_LENGTH = 500;

const Count = (description: string) => Type.Integer({ minimum: 0, description });

const Finding = Type.Object({
  check: Type.String({ description: "The check, such as `version`, `live` or `file`." }),
  where: Type.String({ description: "The row or rows." }),
  message: Type.String(),
});

export const Verification = Type.Object(
  {
    id: Uuid,
    status: OneOf(VERIFICATION_STATUSES, {
      description:
        "Completed: everything was checked. Failed: it could not continue; see `problem`. Interrupted: the appliance stopped while it ran.",
    }),
    backup: Nullable(Type.String(), {
      description: "The name of the backup that is verified; null for the appliance's own data.",
    }),
    requested_by: Type.Object({ type: OneOf(["User"]), id: Uuid, name: Type.String() }),
    started_at: Timestamp,
    ended_at: Nullable(Timestamp, {
      description: "Null while it runs, and if the appliance was killed while it ran.",
    }),
    progress: Nullable(
      Type.Object({
        step: Type.String({ description: "The current step, such as `versions`." }),
        done: Count(
          "Number of rows read in this step, or of tables in the step `file`; or the number of the last row.",
        ),
        total: Nullable(Type.Integer({ minimum: 0 }), {
          description: "Final value of `done`; null if unknown in advance.",
        }),
      }),
      { description: "Progress; null before the first step." },
    ),
    is_sound: Nullable(Type.Boolean(), { description: "Whether there are no findings; null unless Completed." }),
    findings_total: Count("The number of findings, so far while it runs."),
    findings: Type.Array(Finding, { description: `The first ${FINDINGS_LISTED}, once it has ended.` }),
    head: Nullable(Type.Object({ sequence: Type.Integer({ minimum: 1 }), at: Timestamp, hash: Type.String() }), {
      description:
        "The last transaction verified, and its hash, which covers the ledger up to it: the newest one at the start. Null unless it is Completed, and in an empty ledger.",
    }),
    verified: Nullable(
      Type.Object({
        transactions: Type.Integer({ minimum: 0 }),
        records: Type.Integer({ minimum: 0 }),
        versions: Type.Integer({ minimum: 0 }),
        dropped_versions: Count("Versions that prunes dropped: their hashes."),
      }),
      { description: "Amount of data verified; null unless Completed." },
    ),
    not_checked: Type.Array(Type.String(), {
      description:
        "Tables for which SQLite's page check was skipped, because it would take too long while the appliance is running. All of their rows were read.",
    }),
    problem: Nullable(Type.String(), { description: "Why the verification Failed or was Interrupted." }),
  },
  { $id: "LedgerVerification" },
);
export type Verification = Static<typeof Verification>;

export const VERIFICATION_ROWS: RowList = {
  name: "verification",
  path: "ledger/verifications",
  row: Verification,
  unfilterable: { "head.hash": "is a hash: compare it with that of GET /api/v1/ledger" },
};
export const VERIFICATION_FIELDS = new RowFields(VERIFICATION_ROWS);

export const VERIFICATION_EXAMPLE: Verification = {
  id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0041",
  status: "Completed",
  backup: null,
  requested_by: { type: "User", id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0003", name: "Ada" },
  started_at: "2026-11-21T09:15:00.123Z",
  ended_at: "2026-11-21T09:16:12.007Z",
  progress: { step: "lineages", done: 48_211, total: null },
  is_sound: false,
  findings_total: 1,
  findings: [
    {
      check: "live",
      where: "tag 01936f2e-0d5c-7d3a-9a39-3f6f1f7a0010 (n 12)",
      message: "its live document is not its newest version",
    },
  ],
  head: {
    sequence: 131_725,
    at: "2026-11-21T09:14:59.871Z",
    hash: "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0",
  },
  verified: { transactions: 131_725, records: 204_117, versions: 1_004_310, dropped_versions: 0 },
  not_checked: ["history_versions"],
  problem: null,
};

export const STARTED_EXAMPLE: Verification = {
  ...VERIFICATION_EXAMPLE,
  status: "Running",
  ended_at: null,
  progress: null,
  is_sound: null,
  findings_total: 0,
  findings: [],
  head: null,
  verified: null,
  not_checked: [],
};
