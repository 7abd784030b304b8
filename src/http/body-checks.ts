// What a body comes to: parsed, and checked against what its operation takes. A large one on a thread of its own, since
// a few megabytes of JSON take long enough for every other caller to feel it. Knows no operation.

import type { TSchema } from "@sinclair/typebox";
import { DomainError, domainError, type PlainError, plainError } from "../base/errors.ts";
import { FairLines } from "../base/fair-lines.ts";
import { sharedBytes } from "../base/shared-bytes.ts";
import type { StartThread, Thread, ThreadMain } from "../base/thread.ts";
import { NoBody } from "../schemas/schemas.ts";
import { type Checked, check } from "../schemas/validation.ts";
import { parseJson } from "./body.ts";

/** A body beyond this is checked on the other thread: up to here it takes some milliseconds. */
export const LARGE_BODY_BYTES = 64 * 1024;

export interface BodyToCheck {
  readonly operationId: string;
  /** As it came. */
  readonly bytes: Uint8Array;
  /** What makes a repeated request the same one, besides its body; null where nobody asked for that. */
  readonly repeatedAs: string | null;
  /** Of a table, as Content-Type names it. */
  readonly charset?: string | null;
}

/** How a table is read that comes as CSV. */
export interface TakesTable {
  /**
   * To the bytes of what it says, in memory that threads share.
   * @param charset null for UTF-8
   */
  readonly read: (bytes: Uint8Array, charset: string | null) => Checked;
  /** One that can be sent. */
  readonly example: string;
}

export interface CheckedBody {
  readonly checked: Checked;
  /** SHA-256 of `repeatedAs` and the body, as hexadecimal digits; null where nobody asked for it. */
  readonly fingerprint: string | null;
}

/** What says what an operation takes; none: nothing, or an empty object. */
export interface TakesBody {
  readonly operationId: string;
  readonly body?: TSchema;
  /**
   * It comes to the bytes of what it is once checked and normalised, in memory that threads share: whoever parses them
   * trusts them.
   */
  readonly takesBytes?: true;
  /** The same where it is beyond LARGE_BODY_BYTES; else it comes to an object. */
  readonly takesLargeAsBytes?: true;
  /** Of the issues that are reported. */
  readonly issuesMax?: number;
  /** It takes a table instead. */
  readonly table?: TakesTable;
}

/** @throws DomainError malformed_json */
export function checkBody(operation: TakesBody, { bytes, repeatedAs, charset = null }: BodyToCheck): CheckedBody {
  if (operation.table !== undefined) return { checked: operation.table.read(bytes, charset), fingerprint: null };
  // What is sent where nothing is expected is looked at all the same: a typo must not be a silent no-op.
  const checked =
    operation.body === undefined
      ? check(NoBody, bytes.length === 0 ? {} : parseJson(bytes))
      : check(operation.body, parseJson(bytes), "", operation.issuesMax);
  if (!checked.ok) return { checked, fingerprint: null };
  if (operation.takesBytes === true) {
    return { checked: { ok: true, value: sharedBytes(JSON.stringify(checked.value)) }, fingerprint: null };
  }
  const isHandedOver = operation.takesLargeAsBytes === true && bytes.length > LARGE_BODY_BYTES;
  if (repeatedAs === null && !isHandedOver) return { checked, fingerprint: null };
  const text = JSON.stringify(checked.value ?? null);
  return {
    checked: isHandedOver ? { ok: true, value: sharedBytes(text) } : checked,
    fingerprint: repeatedAs === null ? null : fingerprintOf(repeatedAs, text),
  };
}

/** @param body what stands for the body */
export function fingerprintOf(repeatedAs: string, body: string): string {
  return new Bun.CryptoHasher("sha256").update(`${repeatedAs}\n`).update(body).digest("hex");
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
 * The thread that large bodies are checked on, started when the first one arrives and again after a crash. One body at
 * a time, of each sender in turn: however many someone sends, another's is next.
 */
export class BodyChecks {
  private readonly start: StartThread<BodyMessages>;
  private readonly onCrash: (reason: string) => void;
  private thread: Thread<BodyMessages> | null = null;
  private isClosed = false;
  private readonly lines = new FairLines<Waiting>();
  /** What is being checked. */
  private current: Waiting | null = null;

  constructor(start: StartThread<BodyMessages>, onCrash: (reason: string) => void) {
    this.start = start;
    this.onCrash = onCrash;
  }

  /**
   * As checkBody. The bytes are handed over: they are the caller's no more.
   * @param sender whose turn it takes
   * @throws DomainError malformed_json, shutting_down, internal_error
   */
  check(body: BodyToCheck, sender: string): Promise<CheckedBody> {
    if (this.isClosed) return Promise.reject(shuttingDown());
    return new Promise((resolve, reject) => {
      // Before it is waited for: where no thread can be started, nothing is.
      this.running();
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
      this.running().post(body, buffer instanceof SharedArrayBuffer ? [] : [buffer as ArrayBuffer]);
    } catch (error) {
      this.failAll(() => error as Error);
    }
  }

  private running(): Thread<BodyMessages> {
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

/** The thread's side. */
export function serveBodyChecks(operations: readonly TakesBody[]): ThreadMain<BodyMessages> {
  const byId = new Map(operations.map((operation) => [operation.operationId, operation]));
  return (post) => (body) => {
    try {
      const operation = byId.get(body.operationId);
      if (operation === undefined) throw new Error(`body checks: there is no operation ${body.operationId}`);
      post({ ok: true, body: checkBody(operation, body) });
    } catch (error) {
      post({ ok: false, ...plainError(error) });
    }
  };
}

function shuttingDown(): DomainError {
  return new DomainError("shutting_down", "The appliance is shutting down: nothing was written.");
}
