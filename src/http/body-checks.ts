// Body parsing and validation. Large bodies are processed on a separate thread: a few megabytes of JSON would delay
// every other caller. Independent of operations.

import type { TSchema } from "@sinclair/typebox";
import { DomainError, domainError, type PlainError, plainError } from "../base/errors.ts";
import { FairQueue } from "../base/fair-queue.ts";
import { sharedBytes } from "../base/shared-bytes.ts";
import type { StartThread, Thread, ThreadMain } from "../base/thread.ts";
import { NoBody } from "../schemas/schemas.ts";
import { type CheckResult, check } from "../schemas/validation.ts";
import { parseJson } from "./body.ts";

/** Bodies up to this size take some milliseconds; larger ones go to the other thread. */
export const LARGE_BODY_BYTES = 64 * 1024;

export interface BodyToCheck {
  readonly operationId: string;
  /** Raw bytes as received. */
  readonly bytes: Uint8Array;
  /** Fingerprint input besides the body, for detecting retries; null without Idempotency-Key. */
  readonly retryIdentity: string | null;
  /** Charset of a table from Content-Type. */
  readonly charset?: string | null;
}

/** Reader for tables sent as CSV. */
export interface TableFormat {
  /**
   * Converts the table to JSON bytes in shared memory.
   * @param charset null for UTF-8
   */
  readonly read: (bytes: Uint8Array, charset: string | null) => CheckResult;
  /** A valid example. */
  readonly example: string;
}

export interface CheckedBody {
  readonly checked: CheckResult;
  /** SHA-256 of `retryIdentity` and the body, as hexadecimal digits; null without Idempotency-Key. */
  readonly fingerprint: string | null;
}

/** Body-related part of an operation. Without `body`: no body, or an empty object. */
export interface BodyOperation {
  readonly operationId: string;
  readonly body?: TSchema;
  /** The result is the validated, normalized body as bytes in shared memory; readers need not validate it again. */
  readonly takesBytes?: true;
  /** The same for bodies beyond LARGE_BODY_BYTES; smaller ones become an object. */
  readonly acceptsRawBody?: true;
  /** Maximum number of reported issues. */
  readonly issuesMax?: number;
  /** Accepts a table instead of JSON. */
  readonly table?: TableFormat;
}

/** @throws DomainError malformed_json */
export function checkBody(
  operation: BodyOperation,
  { bytes, retryIdentity, charset = null }: BodyToCheck,
): CheckedBody {
  if (operation.table !== undefined) return { checked: operation.table.read(bytes, charset), fingerprint: null };
  // Validates even unexpected bodies: a typo must not be ignored silently.
  const checked =
    operation.body === undefined
      ? check(NoBody, bytes.length === 0 ? {} : parseJson(bytes))
      : check(operation.body, parseJson(bytes), "", operation.issuesMax);
  if (!checked.ok) return { checked, fingerprint: null };
  if (operation.takesBytes === true) {
    return { checked: { ok: true, value: sharedBytes(JSON.stringify(checked.value)) }, fingerprint: null };
  }
  const isPassedAsBytes = operation.acceptsRawBody === true && bytes.length > LARGE_BODY_BYTES;
  if (retryIdentity === null && !isPassedAsBytes) return { checked, fingerprint: null };
  const text = JSON.stringify(checked.value ?? null);
  return {
    checked: isPassedAsBytes ? { ok: true, value: sharedBytes(text) } : checked,
    fingerprint: retryIdentity === null ? null : fingerprintOf(retryIdentity, text),
  };
}

/** @param body text that identifies the body */
export function fingerprintOf(retryIdentity: string, body: string): string {
  return new Bun.CryptoHasher("sha256").update(`${retryIdentity}\n`).update(body).digest("hex");
}

export interface BodyMessages {
  readonly to: BodyToCheck;
  readonly from: { readonly ok: true; readonly body: CheckedBody } | ({ readonly ok: false } & PlainError);
}

interface Waiting {
  readonly body: BodyToCheck;
  readonly resolve: (body: CheckedBody) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Thread for checking large bodies, started with the first one and restarted after a crash. Checks one body at a time,
 * rotating between senders, so that no sender delays another by more than one body.
 */
export class BodyChecks {
  private readonly start: StartThread<BodyMessages>;
  private readonly onCrash: (reason: string) => void;
  private thread: Thread<BodyMessages> | null = null;
  private isClosed = false;
  private readonly lines = new FairQueue<Waiting>();
  /** The body being checked. */
  private current: Waiting | null = null;

  constructor(start: StartThread<BodyMessages>, onCrash: (reason: string) => void) {
    this.start = start;
    this.onCrash = onCrash;
  }

  /**
   * Like checkBody. Transfers the bytes: the caller must not use them afterwards.
   * @param sender for the rotation
   * @throws DomainError malformed_json, shutting_down, internal_error
   */
  check(body: BodyToCheck, sender: string): Promise<CheckedBody> {
    if (this.isClosed) return Promise.reject(shuttingDown());
    return new Promise((resolve, reject) => {
      // Before queuing: without a thread, nothing may wait.
      this.ensureThread();
      this.lines.add(sender, { body, resolve, reject });
      this.next();
    });
  }

  close(): void {
    this.isClosed = true;
    this.thread?.terminate();
    this.thread = null;
    this.failAll(shuttingDown);
  }

  private next(): void {
    if (this.current !== null) return;
    this.current = this.lines.take();
    if (this.current === null) return;
    const { body } = this.current;
    const { buffer } = body.bytes;
    try {
      this.ensureThread().post(body, buffer instanceof SharedArrayBuffer ? [] : [buffer as ArrayBuffer]);
    } catch (error) {
      this.failAll(() => error as Error);
    }
  }

  private ensureThread(): Thread<BodyMessages> {
    this.thread ??= this.start(
      (reply) => {
        const { current } = this;
        this.current = null;
        if (reply.ok) current?.resolve(reply.body);
        else current?.reject(domainError(reply));
        this.next();
      },
      (cause) => {
        this.thread = null;
        this.onCrash(cause);
        const message = "The body could not be checked: nothing was written.";
        this.failAll(() => domainError({ code: "internal_error", message, params: {}, cause }));
      },
    );
    return this.thread;
  }

  private failAll(error: () => Error): void {
    const { current } = this;
    this.current = null;
    current?.reject(error());
    for (let waiting = this.lines.take(); waiting !== null; waiting = this.lines.take()) waiting.reject(error());
  }
}

/** Thread side. */
export function serveBodyChecks(operations: readonly BodyOperation[]): ThreadMain<BodyMessages> {
  const byId = new Map(operations.map((operation) => [operation.operationId, operation]));
  return (post) => (body) => {
    try {
      const operation = byId.get(body.operationId);
      if (operation === undefined) throw new Error(`body checks: unknown operation ${body.operationId}`);
      post({ ok: true, body: checkBody(operation, body) });
    } catch (error) {
      post({ ok: false, ...plainError(error) });
    }
  };
}

function shuttingDown(): DomainError {
  return new DomainError("shutting_down", "The appliance is shutting down: nothing was written.");
}
