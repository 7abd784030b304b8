// What the appliance and the scanning thread say to each other, and that thread's side of it. Must not know what a scan does.

import { DomainError, type ErrorCode } from "../../base/errors.ts";
import type { Outcome } from "../../db/transaction.ts";
import type { ScanKind } from "../../resources/schedules/schedule.ts";
import type { Dispatched, ScanEnd } from "./commands.ts";
import type { ScanProgress } from "./scan.ts";

/** What a scan is to do. */
export interface ScanOrder extends Dispatched {
  readonly id: string;
  readonly network_id: string;
  readonly organization_id: string;
  readonly kind: ScanKind;
  /** Null for the network's subnets. */
  readonly targets: readonly string[] | null;
  readonly commit: boolean;
  readonly allow_large: boolean;
  /** The transaction that its beginning made; null where it made none. */
  readonly dispatch_sequence: number | null;
}

/** Why a scan stops before its end. */
export type StopReason = "Cancelled" | "Interrupted";

export type ToScanner =
  | { readonly type: "open"; readonly options: unknown }
  | { readonly type: "start"; readonly order: ScanOrder }
  | { readonly type: "cancel"; readonly id: string }
  | { readonly type: "written"; readonly id: number; readonly outcome: Outcome<unknown> }
  | {
      readonly type: "refused";
      readonly id: number;
      readonly code: ErrorCode;
      readonly message: string;
      readonly params: Record<string, unknown>;
    }
  | { readonly type: "close" };

export type FromScanner =
  /** A command to be run by the writer; its input as JSON, in memory that no thread has to copy. */
  | {
      readonly type: "write";
      readonly id: number;
      readonly scan_id: string;
      readonly command: string;
      readonly bytes: Uint8Array;
    }
  | { readonly type: "progress"; readonly scan_id: string; readonly progress: ScanProgress; readonly findings: number }
  /** `cause` of a failure that is nobody's but ours: for the log. */
  | { readonly type: "ended"; readonly end: ScanEnd; readonly cause: string | null }
  | { readonly type: "closed" };

/** The scanning thread as the appliance has it. */
export interface ScanThread {
  post(message: ToScanner): void;
  /** Ends it where it stands. */
  terminate(): void;
}

/** @param crashed told when the thread is gone without having been asked to go */
export type StartScanThread = (
  receive: (message: FromScanner) => void,
  crashed: (reason: string) => void,
) => ScanThread;

/** A Worker of its own. */
export function workerThread(start: () => Worker): StartScanThread {
  return (receive, crashed) => {
    let worker: Worker;
    try {
      worker = start();
    } catch (error) {
      // Told as the end of a thread is: what was to run on it has failed, and the next scan tries again.
      queueMicrotask(() => crashed(error instanceof Error ? error.message : String(error)));
      return { post: () => {}, terminate: () => {} };
    }
    worker.onmessage = (event: MessageEvent<FromScanner>) => receive(event.data);
    worker.onerror = (event) => crashed(event.message);
    worker.addEventListener("close", () => crashed("the scanning thread ended"));
    return { post: (message) => worker.postMessage(message), terminate: () => worker.terminate() };
  };
}

/** What a running scan has of the appliance. */
export interface ScanPorts {
  /**
   * Has the writer run a command.
   * @throws DomainError as the command threw it
   */
  write<T>(command: string, bytes: Uint8Array): Promise<Outcome<T>>;
  report(progress: ScanProgress, findings: number): void;
  /** Its reason is a StopReason. */
  readonly signal: AbortSignal;
}

/** What does scans. */
export interface ScanMachine {
  /** Does a scan to its end, whatever happens. */
  scan(order: ScanOrder, ports: ScanPorts): Promise<{ readonly end: ScanEnd; readonly cause: string | null }>;
  close(): void;
}

/** The thread's side: several scans at a time. */
export function serveScans(
  open: (options: unknown) => ScanMachine,
  port: { postMessage(message: FromScanner): void },
): (message: ToScanner) => void {
  let machine: ScanMachine | null = null;
  let lastWrite = 0;
  const writes = new Map<
    number,
    { readonly resolve: (outcome: Outcome<unknown>) => void; readonly reject: (error: Error) => void }
  >();
  const running = new Map<string, { readonly controller: AbortController; readonly done: Promise<void> }>();
  const run = async (machine: ScanMachine, order: ScanOrder, controller: AbortController) => {
    const work = machine.scan(order, {
      write: <T>(command: string, bytes: Uint8Array) =>
        new Promise<Outcome<T>>((resolve, reject) => {
          lastWrite += 1;
          writes.set(lastWrite, { resolve: resolve as (outcome: Outcome<unknown>) => void, reject });
          port.postMessage({ type: "write", id: lastWrite, scan_id: order.id, command, bytes });
        }),
      report: (progress, findings) => port.postMessage({ type: "progress", scan_id: order.id, progress, findings }),
      signal: controller.signal,
    });
    const ended = await work.catch((error: unknown) => ({
      end: {
        id: order.id,
        status: "Failed" as const,
        progress: null,
        outcome: null,
        problem: "something went wrong inside the appliance; its log tells what",
      },
      cause: error instanceof Error ? (error.stack ?? error.message) : String(error),
    }));
    running.delete(order.id);
    port.postMessage({ type: "ended", ...ended });
  };
  const settle = (id: number) => {
    const waiting = writes.get(id);
    writes.delete(id);
    return waiting;
  };
  return (message) => {
    switch (message.type) {
      case "open":
        machine = open(message.options);
        break;
      case "start": {
        if (machine === null) throw new Error("scans: the thread was told to scan before it was opened");
        const controller = new AbortController();
        running.set(message.order.id, { controller, done: run(machine, message.order, controller) });
        break;
      }
      case "cancel":
        running.get(message.id)?.controller.abort("Cancelled" satisfies StopReason);
        break;
      case "written":
        settle(message.id)?.resolve(message.outcome);
        break;
      case "refused":
        settle(message.id)?.reject(new DomainError(message.code, message.message, message.params));
        break;
      case "close": {
        const all = [...running.values()];
        for (const { controller } of all) controller.abort("Interrupted" satisfies StopReason);
        void Promise.allSettled(all.map(({ done }) => done)).then(() => {
          machine?.close();
          machine = null;
          port.postMessage({ type: "closed" });
        });
      }
    }
  };
}
