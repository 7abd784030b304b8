// Routes for /api/v1/backups. A backup covers all organizations, so only Owners have access; it stays on the
// appliance's disk.

import { Type } from "@sinclair/typebox";
import { type Access, type Actor, OWNER } from "../access/actor.ts";
import { PASSWORD_MAX_LENGTH } from "../access/password.ts";
import { OF_WHOLE_APPLIANCE } from "../access/whole-appliance.ts";
import { DomainError } from "../base/errors.ts";
import { SIGN_IN_BODY_LIMIT_BYTES } from "../http/body.ts";
import type { Call } from "../http/request.ts";
import type { Surface } from "../http/surface.ts";
import type { Backend } from "../records/backend.ts";
import { FilterQuery } from "../records/list-filter.ts";
import { requestFilter } from "../records/list-responses.ts";
import { RowFilter } from "../records/row-filter.ts";
import { runWrite } from "../records/write-responses.ts";
import { jsonResponse, LIST_HEAD, listMeta, listTail, successResponse } from "../schemas/envelope.ts";
import { Body, LIMIT_DEFAULT, NAME_MAX_LENGTH, PageOnlyQuery } from "../schemas/schemas.ts";
import { BACKUP_EXAMPLE, BACKUP_FIELDS, BackupBody } from "./backup-body.ts";
import type { Backups, Backup as BackupView } from "./backups.ts";
import type { BackupCommands } from "./commands.ts";
import { noSuchBackup } from "./unknown-backup.ts";

const STARTED_EXAMPLE: BackupView = {
  ...BACKUP_EXAMPLE,
  state: "Running",
  size_bytes: null,
  sequence: null,
  hash: null,
};

const List = Type.Object({ ...PageOnlyQuery, ...FilterQuery });
const Params = Type.Object({
  name: Type.String({ minLength: 1, maxLength: NAME_MAX_LENGTH, description: "The name of the backup." }),
});
const group = "Backups";

/**
 * Verifies a caller's password again.
 * @throws DomainError auth_invalid_credentials, rate_limit_exceeded
 */
export type ConfirmCaller = (call: Call<Actor, unknown, unknown, unknown>, password: string) => Promise<void>;

const Download = Body({
  password: Type.String({ minLength: 1, maxLength: PASSWORD_MAX_LENGTH, writeOnly: true }),
});
/** Registered with IANA. */
const FILE_TYPE = "application/vnd.sqlite3";

/** Registers /api/v1/backups. */
export function backupRoutes(
  surface: Surface<Actor, Access>,
  backend: Backend<BackupCommands>,
  backups: Backups,
  confirmCaller: ConfirmCaller,
): void {
  const { reader } = backend;
  /** Rejects keys restricted to some networks: a backup contains everything, so they may neither create nor see it. */
  const requireAllNetworks = ({ actor }: Call<Actor, unknown, unknown, unknown>): void => {
    if (actor.networkNs !== null)
      throw new DomainError(
        "auth_permission_denied",
        "A backup contains everything, and this API key is limited to some networks: use one with all networks.",
        { required: "Owner", actual: actor.role, all_networks: false },
      );
  };
  surface
    .get(
      "/api/v1/backups",
      {
        operationId: "listBackups",
        summary: "List backups",
        description: "Oldest first.",
        group,
        access: OWNER,
        query: List,
        responseSchema: Type.Array(BackupBody),
        isList: true,
        example: { data: [BACKUP_EXAMPLE] },
      },
      (call) => {
        requireAllNetworks(call);
        const { limit = LIMIT_DEFAULT, offset = 0 } = call.query;
        const filter = RowFilter.of(reader, BACKUP_FIELDS, call.actor, requestFilter(call, reader, null));
        const all = backups.list().filter((each) => filter === null || filter.holds(each));
        const page = all.slice(offset, limit === 0 ? all.length : offset + limit);
        const items = page.map((each) => JSON.stringify(each)).join(",");
        return jsonResponse(call, LIST_HEAD + items + listTail(listMeta({ limit, offset, total: all.length }, null)));
      },
    )
    .post(
      "/api/v1/backups",
      {
        operationId: "createBackup",
        writesNoTransaction: true,
        summary: "Take a backup",
        description:
          "Returns at once, with the backup Running: a large store takes minutes. Only one runs at a time. The appliance keeps working; the backup is one consistent state of the whole store. It does not contain the key that encrypts the credentials' secrets.",
        group,
        access: OWNER,
        responseSchema: BackupBody,
        errors: ["entity_already_exists"],
        example: { data: STARTED_EXAMPLE },
      },
      async (call) => {
        requireAllNetworks(call);
        const name = await nameOf(call);
        const known = backups.find(name);
        // The name was issued before, but has no backup: the first request was refused.
        if (known === null) delete call.headers["idempotency-replayed"];
        const backup = known ?? backups.start(name);
        if (known === null) backend.log.info("backup_started", { name, request_id: call.requestId });
        return successResponse(call, JSON.stringify(backup));
      },
    )
    .get(
      "/api/v1/backups/:name",
      {
        operationId: "getBackup",
        summary: "Get a backup",
        description: "By name, during and after the backup: `Done` once it is complete and verified.",
        group,
        access: OWNER,
        params: Params,
        responseSchema: BackupBody,
        example: { data: BACKUP_EXAMPLE },
      },
      (call) => {
        requireAllNetworks(call);
        const backup = backups.find(call.params.name);
        if (backup === null) throw noSuchBackup(call.params.name);
        return successResponse(call, JSON.stringify(backup));
      },
    )
    .post(
      "/api/v1/backups/:name/download",
      {
        operationId: "downloadBackup",
        writesNoTransaction: true,
        ignoresIdempotencyKey: true,
        summary: "Download a backup",
        description:
          "The file as it is, for `netledger restore` or `netledger serve --read-only`. It contains all data of the appliance and the hashes of passwords and keys, so the caller's password is required again. Only while the appliance has one organization.",
        group,
        access: OF_WHOLE_APPLIANCE,
        params: Params,
        bodyLimitBytes: SIGN_IN_BODY_LIMIT_BYTES,
        body: Download,
        responseSchema: null,
        media: [{ type: FILE_TYPE, description: "The SQLite database.", example: "SQLite format 3" }],
        errors: ["auth_invalid_credentials", "entity_not_found", "entity_in_use"],
        example: { body: { password: "a phrase of their own" }, data: null, parameters: { name: BACKUP_EXAMPLE.name } },
      },
      async (call) => {
        const { name } = call.params;
        backups.file(name);
        await confirmCaller(call, call.body.password);
        // The backup may have changed while the password was verified.
        const { path, sizeBytes } = call.again(() => backups.file(name));
        backend.log.info("backup_downloaded", { name, size_bytes: sizeBytes, request_id: call.requestId });
        return new Response(Bun.file(path), {
          headers: {
            ...call.headers,
            "cache-control": "no-store",
            "content-type": FILE_TYPE,
            "content-disposition": `attachment; filename="${name}"`,
          },
        });
      },
    )
    .delete(
      "/api/v1/backups/:name",
      {
        operationId: "deleteBackup",
        writesNoTransaction: true,
        summary: "Delete a backup",
        description:
          "Deletes the file permanently; a failed backup is removed from the list. Only while the appliance has one organization.",
        group,
        access: OF_WHOLE_APPLIANCE,
        params: Params,
        responseSchema: Type.Object({}),
        errors: ["entity_not_found", "entity_in_use"],
        example: { data: {}, parameters: { name: BACKUP_EXAMPLE.name } },
      },
      async (call) => {
        const { name } = call.params;
        const exists = backups.find(name) !== null;
        await runWrite(backend, call, "backup.forget", { name, exists });
        // A repeat finds it deleted, unless the disk refused the first time.
        if (backups.find(name) === null) return successResponse(call, "{}");
        backups.remove(name);
        backend.log.info("backup_deleted", { name, request_id: call.requestId });
        return successResponse(call, "{}");
      },
    );

  /** A new name, or for a repeated request its original name. */
  async function nameOf(call: Call<Actor, unknown, unknown, unknown, Access>): Promise<string> {
    const name = backups.newName();
    if (call.idempotency === null) return name;
    return (await runWrite(backend, call, "backup.name", { name })).result.name;
  }
}
