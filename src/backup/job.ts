// A backup taken by a Worker, which has its own connection: neither reads nor writes of the appliance wait for it. One Worker for each.

import type { ErrorCode } from "../base/errors.ts";
import { DomainError } from "../base/errors.ts";
import { DatabaseRefused } from "../db/migrate.ts";
import { takeBackup, type TakenBackup } from "./take.ts";

/** What a Worker is asked for. */
export interface BackupOrder {
  readonly database: string;
  /** Absolute. */
  readonly file: string;
}

/** A backup under way. */
export interface BackupJob {
  /** @throws DomainError, DatabaseRefused as takeBackup; Error where it broke */
  readonly taken: Promise<TakenBackup>;
  /** Ends it where it stands; what it has written is left to the next start. */
  abandon(): void;
}

/** What a Worker answers: an Error loses its class on the way. */
export type BackupReply =
  | { readonly ok: true; readonly taken: TakenBackup }
  | { readonly ok: false; readonly code: ErrorCode; readonly message: string; readonly cause: string | null }
  | { readonly ok: false; readonly code: "refused" | null; readonly message: string };

/** Has a Worker take a backup. */
export function orderBackup(worker: Worker, order: BackupOrder): BackupJob {
  const { promise, resolve, reject } = Promise.withResolvers<TakenBackup>();
  worker.onmessage = (event: MessageEvent<BackupReply>) => {
    const reply = event.data;
    if (reply.ok) resolve(reply.taken);
    else reject(errorOf(reply));
    worker.terminate();
  };
  worker.onerror = (event) => reject(new Error(event.message));
  worker.addEventListener("close", () => reject(new Error("the thread of the backup ended")));
  worker.postMessage(order);
  return { taken: promise, abandon: () => worker.terminate() };
}

/** The Worker's side. */
export async function serveBackup(order: BackupOrder): Promise<BackupReply> {
  try {
    return { ok: true, taken: await takeBackup(order) };
  } catch (error) {
    if (error instanceof DomainError)
      return {
        ok: false,
        code: error.code,
        message: error.message,
        cause: error.cause === undefined ? null : String(error.cause),
      };
    if (error instanceof DatabaseRefused) return { ok: false, code: "refused", message: error.message };
    return { ok: false, code: null, message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

function errorOf(reply: Exclude<BackupReply, { ok: true }>): Error {
  if (reply.code === null) return new Error(reply.message);
  if (reply.code === "refused") return new DatabaseRefused(reply.message);
  const error = new DomainError(reply.code, reply.message);
  if ("cause" in reply && reply.cause !== null) error.cause = reply.cause;
  return error;
}
