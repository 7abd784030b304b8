// Backup in a separate thread with its own connection, so that the appliance's reads and writes do not wait for it.

import { DomainError, describeFault, type ErrorCode } from "../base/errors.ts";
import { callThread, type StartThread } from "../base/thread.ts";
import { DatabaseRefused } from "../db/files/migrate.ts";
import { type TakenBackup, takeBackup } from "./take.ts";

/** Request to a backup thread. */
export interface BackupRequest {
  readonly database: string;
  /** Absolute. */
  readonly file: string;
}

/** A backup in progress. */
export interface BackupJob {
  /** @throws DomainError, DatabaseRefused like takeBackup; Error if the thread crashed */
  readonly taken: Promise<TakenBackup>;
  /** Aborts immediately; the next start cleans up the partial file. */
  abandon(): void;
}

/** Thread messages. Errors lose their class in transit. */
export interface BackupMessages {
  readonly to: BackupRequest;
  readonly from: BackupReply;
}

type BackupReply =
  | { readonly ok: true; readonly taken: TakenBackup }
  | { readonly ok: false; readonly code: ErrorCode; readonly message: string; readonly cause: string | null }
  | { readonly ok: false; readonly code: "refused" | null; readonly message: string };

/**
 * Starts a backup in a thread.
 * @throws as `start`
 */
export function startBackup(start: StartThread<BackupMessages>, request: BackupRequest): BackupJob {
  const { reply: pending, abandon } = callThread(start, request);
  const taken = pending.then((reply) => {
    if (reply.ok) return reply.taken;
    throw errorOf(reply);
  });
  return { taken, abandon };
}

/** Thread side. */
export async function serveBackup(request: BackupRequest): Promise<BackupReply> {
  try {
    return { ok: true, taken: await takeBackup(request) };
  } catch (error) {
    if (error instanceof DomainError)
      return {
        ok: false,
        code: error.code,
        message: error.message,
        cause: error.cause === undefined ? null : String(error.cause),
      };
    if (error instanceof DatabaseRefused) return { ok: false, code: "refused", message: error.message };
    return { ok: false, code: null, message: describeFault(error) };
  }
}

function errorOf(reply: Exclude<BackupReply, { ok: true }>): Error {
  if (reply.code === null) return new Error(reply.message);
  if (reply.code === "refused") return new DatabaseRefused(reply.message);
  const error = new DomainError(reply.code, reply.message);
  if ("cause" in reply && reply.cause !== null) error.cause = reply.cause;
  return error;
}
