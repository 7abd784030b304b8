// Messages between the appliance and the scanning thread, and the thread's side of them.

import { describeFault, domainError, type PlainError } from "../../base/errors.ts";
import type { Messages, StartThread, ThreadMain } from "../../base/thread.ts";
import type { CommandOutcome } from "../../db/writing/transaction.ts";
import type { ScanKind } from "../../resources/schedules/schedule.ts";
import type { TrialStep } from "../snmp/trial-steps.ts";
import type { Dispatched, ScanCommands, ScanEnd } from "./commands.ts";
import type { ScanProgress } from "./scan.ts";
import type { SightingCommands } from "./sighting-commands.ts";
import type { TrialRequest } from "./trial.ts";

export interface ScanOrder extends Dispatched {
  readonly id: string;
  readonly network_id: string;
  readonly organization_id: string;
  readonly kind: ScanKind;
  /** Null for the network's subnets. */
  readonly targets: readonly string[] | null;
  readonly commit: boolean;
  readonly allow_large: boolean;
  /** Transaction that started the scan; null if none. */
  readonly dispatch_sequence: number | null;
}

export type StopReason = "Cancelled" | "Interrupted";

/** Sent to the thread on startup. */
export interface ScannerOptions {
  readonly databasePath: string;
  readonly secretKey: Uint8Array;
  /** Absolute path; null if not configured. */
  readonly secretsFolder: string | null;
  readonly snmpPort: number;
  /** Null for the default list. */
  readonly tcpPorts: readonly number[] | null;
}

/** Writer commands of a scan, with input as JSON bytes. */
type ScanWrites = SightingCommands & Pick<ScanCommands, "discovery.note">;

export interface ScanMessages extends Messages {
  readonly to: ToScanner;
  readonly from: FromScanner;
}

type ToScanner =
  | { readonly type: "open"; readonly options: ScannerOptions }
  | { readonly type: "start"; readonly order: ScanOrder }
  | { readonly type: "cancel"; readonly id: string }
  | { readonly type: "try"; readonly id: number; readonly request: TrialRequest }
  | { readonly type: "abandon"; readonly id: number }
  | { readonly type: "written"; readonly id: number; readonly outcome: CommandOutcome<unknown> }
  | ({ readonly type: "refused"; readonly id: number } & PlainError)
  | { readonly type: "close" };

type FromScanner =
  /** A command for the writer, as JSON in shared memory. */
  | {
      readonly type: "write";
      readonly id: number;
      readonly scan_id: string;
      readonly command: keyof ScanWrites;
      readonly bytes: Uint8Array;
    }
  | { readonly type: "progress"; readonly scan_id: string; readonly progress: ScanProgress; readonly findings: number }
  /** `cause` of an internal failure, for the log. */
  | { readonly type: "ended"; readonly end: ScanEnd; readonly cause: string | null }
  /** A completed step of a trial. */
  | { readonly type: "step"; readonly id: number; readonly step: TrialStep }
  /** All steps of a trial; `cause` for the log after an internal failure. */
  | { readonly type: "tried"; readonly id: number; readonly steps: readonly TrialStep[]; readonly cause: string | null }
  | { readonly type: "closed" };

/** A thread that cannot start ends immediately: its scan fails, and the next scan retries. */
export function startOrEnd(start: StartThread<ScanMessages>): StartThread<ScanMessages> {
  return (onMessage, ended) => {
    try {
      return start(onMessage, ended);
    } catch (error) {
      queueMicrotask(() => ended(error instanceof Error ? error.message : String(error)));
      return { post: () => {}, terminate: () => {} };
    }
  };
}

export interface ScanPorts {
  /** @throws DomainError as thrown by the command */
  write<N extends keyof ScanWrites>(command: N, bytes: Uint8Array): Promise<CommandOutcome<ScanWrites[N]["result"]>>;
  report(progress: ScanProgress, findings: number): void;
  /** The reason is a StopReason. */
  readonly signal: AbortSignal;
}

export interface ScanMachine {
  scan(order: ScanOrder, ports: ScanPorts): Promise<{ readonly end: ScanEnd; readonly cause: string | null }>;
  /** Tries a credential at an address. Ends soon after the signal is aborted. */
  try(request: TrialRequest, signal: AbortSignal, onStep: (step: TrialStep) => void): Promise<readonly TrialStep[]>;
  close(): void;
}

/** Runs several scans concurrently. */
export function serveScans(open: (options: ScannerOptions) => ScanMachine): ThreadMain<ScanMessages> {
  return (post) => {
    let machine: ScanMachine | null = null;
    let lastWrite = 0;
    const writes = new Map<
      number,
      { readonly resolve: (outcome: CommandOutcome<unknown>) => void; readonly reject: (error: Error) => void }
    >();
    const running = new Map<string, { readonly controller: AbortController; readonly done: Promise<void> }>();
    const run = async (machine: ScanMachine, order: ScanOrder, controller: AbortController) => {
      const work = machine.scan(order, {
        write: (command, bytes) =>
          new Promise<CommandOutcome<never>>((resolve, reject) => {
            lastWrite += 1;
            writes.set(lastWrite, { resolve: resolve as (outcome: CommandOutcome<unknown>) => void, reject });
            post({ type: "write", id: lastWrite, scan_id: order.id, command, bytes });
          }),
        report: (progress, findings) => post({ type: "progress", scan_id: order.id, progress, findings }),
        signal: controller.signal,
      });
      const ended = await work.catch((error: unknown) => ({
        end: {
          id: order.id,
          status: "Failed" as const,
          progress: null,
          outcome: null,
          problem: "something went wrong inside the appliance; see its log",
        },
        cause: describeFault(error),
      }));
      running.delete(order.id);
      post({ type: "ended", ...ended });
    };
    const trials = new Map<number, { readonly controller: AbortController; readonly done: Promise<void> }>();
    const tryCredential = async (
      machine: ScanMachine,
      id: number,
      request: TrialRequest,
      { signal }: AbortController,
    ) => {
      const tried = await machine
        .try(request, signal, (step) => post({ type: "step", id, step }))
        .then((steps) => ({ steps, cause: null }))
        .catch((error: unknown) => ({ steps: [], cause: describeFault(error) }));
      trials.delete(id);
      post({ type: "tried", id, ...tried });
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
          if (machine === null) throw new Error("scans: the thread received a scan before it was opened");
          const controller = new AbortController();
          running.set(message.order.id, { controller, done: run(machine, message.order, controller) });
          break;
        }
        case "cancel":
          running.get(message.id)?.controller.abort("Cancelled" satisfies StopReason);
          break;
        case "try": {
          if (machine === null) throw new Error("scans: the thread received a trial before it was opened");
          const controller = new AbortController();
          trials.set(message.id, { controller, done: tryCredential(machine, message.id, message.request, controller) });
          break;
        }
        case "abandon":
          trials.get(message.id)?.controller.abort("Cancelled" satisfies StopReason);
          break;
        case "written":
          settle(message.id)?.resolve(message.outcome);
          break;
        case "refused":
          settle(message.id)?.reject(domainError(message));
          break;
        case "close": {
          const all = [...running.values(), ...trials.values()];
          for (const { controller } of all) controller.abort("Interrupted" satisfies StopReason);
          void Promise.allSettled(all.map(({ done }) => done)).then(() => {
            machine?.close();
            machine = null;
            post({ type: "closed" });
          });
        }
      }
    };
  };
}
