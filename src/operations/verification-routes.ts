// Routes for /api/v1/ledger/verifications: `netledger verify` for an Owner without shell access.

import { Type } from "@sinclair/typebox";
import type { Access, Actor } from "../access/actor.ts";
import { OF_WHOLE_APPLIANCE } from "../access/whole-appliance.ts";
import { notFound } from "../base/errors.ts";
import type { Call } from "../http/request.ts";
import type { Surface } from "../http/surface.ts";
import type { Backend } from "../records/backend.ts";
import { FilterQuery } from "../records/list-filter.ts";
import { requestFilter } from "../records/list-responses.ts";
import { RowFilter } from "../records/row-filter.ts";
import { runWrite } from "../records/write-responses.ts";
import { jsonResponse, LIST_HEAD, listMeta, listTail, successResponse } from "../schemas/envelope.ts";
import { IdParams, LIMIT_DEFAULT, NAME_MAX_LENGTH, PageOnlyQuery } from "../schemas/schemas.ts";
import {
  STARTED_EXAMPLE,
  VERIFICATION_EXAMPLE,
  VERIFICATION_FIELDS,
  VERIFICATIONS_KEPT,
  Verification,
} from "./verification.ts";
import type { VerificationCommands } from "./verification-commands.ts";
import type { Verifications } from "./verifications.ts";

const group = "Appliance";
const SINGLE_ORGANIZATION = "Only while the appliance has one organization.";
const BackupParams = Type.Object({
  name: Type.String({ minLength: 1, maxLength: NAME_MAX_LENGTH, description: "The name of the backup." }),
});
const BACKUP_NAME = "netledger-20261121T091500123Z.db";
const List = Type.Object({ ...PageOnlyQuery, ...FilterQuery });

/**
 * The file of a complete backup.
 * @throws DomainError entity_not_found, entity_in_use while it is being taken
 */
export type FileOfBackup = (name: string) => string;

/** /api/v1/ledger/verifications, and the verification of a backup. */
export function verificationRoutes(
  surface: Surface<Actor, Access>,
  backend: Backend<VerificationCommands>,
  verifications: Verifications,
  fileOf: FileOfBackup,
): void {
  const { reader } = backend;
  surface
    .post(
      "/api/v1/ledger/verifications",
      {
        operationId: "createLedgerVerification",
        writesNoTransaction: true,
        summary: "Verify the ledger",
        description: `Returns at once, with the verification Running: a large store takes minutes. Only one runs at a time. Same checks as \`netledger verify\` next to a running appliance: the hash chain, everything derived from the ledger, the rows outside it, and the file. The appliance keeps working; later writes are left to the next verification. ${SINGLE_ORGANIZATION}`,
        group,
        access: OF_WHOLE_APPLIANCE,
        responseSchema: Verification,
        errors: ["entity_already_exists"],
        example: { data: STARTED_EXAMPLE },
      },
      (call) => startVerification(call, null),
    )
    .post(
      "/api/v1/backups/:name/verify",
      {
        operationId: "verifyBackup",
        writesNoTransaction: true,
        summary: "Verify a backup",
        description: `Reads it again completely, since disks lose unread data. Returns at once, with a Running verification that is followed, canceled and listed like those of the ledger; only one runs at a time. Same checks as \`netledger verify --backup\`. ${SINGLE_ORGANIZATION}`,
        group: "Backups",
        access: OF_WHOLE_APPLIANCE,
        params: BackupParams,
        responseSchema: Verification,
        errors: ["entity_not_found", "entity_in_use", "entity_already_exists"],
        example: {
          data: { ...STARTED_EXAMPLE, id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0042", backup: BACKUP_NAME },
          parameters: { name: BACKUP_NAME },
        },
      },
      (call) => startVerification(call, call.params.name),
    )
    .get(
      "/api/v1/ledger/verifications",
      {
        operationId: "listLedgerVerifications",
        summary: "List verifications of the ledger",
        description: `Newest first. The last ${VERIFICATIONS_KEPT} are kept, in a file next to the database. ${SINGLE_ORGANIZATION}`,
        group,
        access: OF_WHOLE_APPLIANCE,
        query: List,
        responseSchema: Type.Array(Verification),
        isList: true,
        example: { data: [VERIFICATION_EXAMPLE] },
      },
      (call) => {
        const { limit = LIMIT_DEFAULT, offset = 0 } = call.query;
        const filter = RowFilter.of(reader, VERIFICATION_FIELDS, call.actor, requestFilter(call, reader, null));
        const all = verifications.list().filter((each) => filter === null || filter.holds(each));
        const page = all.slice(offset, limit === 0 ? all.length : offset + limit);
        const items = page.map((each) => JSON.stringify(each)).join(",");
        return jsonResponse(call, LIST_HEAD + items + listTail(listMeta({ limit, offset, total: all.length }, null)));
      },
    )
    .get(
      "/api/v1/ledger/verifications/:id",
      {
        operationId: "getLedgerVerification",
        summary: "Get a verification of the ledger",
        description: `Its progress while it runs; afterwards its findings, and the head of the ledger that it verified. ${SINGLE_ORGANIZATION}`,
        group,
        access: OF_WHOLE_APPLIANCE,
        params: IdParams,
        responseSchema: Verification,
        example: { data: VERIFICATION_EXAMPLE },
      },
      (call) => successResponse(call, JSON.stringify(requireFound(call.params.id))),
    )
    .post(
      "/api/v1/ledger/verifications/:id/cancel",
      {
        operationId: "cancelLedgerVerification",
        writesNoTransaction: true,
        summary: "Cancel a verification of the ledger",
        description: `The verification stops after its current step: at once, or within seconds while SQLite checks a large table. Its findings so far are kept. ${SINGLE_ORGANIZATION}`,
        group,
        access: OF_WHOLE_APPLIANCE,
        params: IdParams,
        responseSchema: Verification,
        errors: ["entity_not_found", "entity_stale"],
        example: { data: { ...STARTED_EXAMPLE, status: "Cancelled", ended_at: VERIFICATION_EXAMPLE.ended_at } },
      },
      async (call) => {
        const { id } = call.params;
        const status = verifications.find(id)?.status ?? null;
        if (call.idempotency !== null) await runWrite(backend, call, "verification.cancel", { id, status });
        const isRepeated = call.headers["idempotency-replayed"] === "true";
        const verification = isRepeated ? requireFound(id) : await verifications.cancel(id);
        return successResponse(call, JSON.stringify(verification));
      },
    );

  async function startVerification(
    call: Call<Actor, unknown, unknown, unknown, Access>,
    /** Null for the appliance's own data. */
    backup: string | null,
  ): Promise<Response> {
    const { id: userId, name } = backend.authorOf(call);
    const id = await idOf(call);
    const known = verifications.find(id);
    // An id from an earlier request, but without a verification: that request was rejected.
    if (known === null) delete call.headers["idempotency-replayed"];
    const requestedBy = { type: "User" as const, id: userId as string, name };
    const file = () => (backup === null ? undefined : { name: backup, path: fileOf(backup) });
    const verification = known ?? (await verifications.start(id, requestedBy, file()));
    if (known === null)
      backend.log.info("verification_started", {
        id,
        ...(backup === null ? {} : { backup }),
        request_id: call.requestId,
      });
    return successResponse(call, JSON.stringify(verification));
  }

  function requireFound(id: string): Verification {
    const verification = verifications.find(id);
    if (verification === null) throw notFound({ name: "verification" }, id);
    return verification;
  }

  /** A new id, or the earlier id for a retried request. */
  async function idOf(call: Call<Actor, unknown, unknown, unknown, Access>): Promise<string> {
    const id = verifications.newId();
    if (call.idempotency === null) return id;
    return (await runWrite(backend, call, "verification.name", { id })).result.id;
  }
}
