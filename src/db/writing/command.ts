// Command type: its traits, and what its callers see of it. Independent of specific commands.

import type { WriteTransaction } from "./transaction.ts";

/** A synchronous function. Throwing rolls back all its changes. `box` encrypts secrets. */
// biome-ignore lint/suspicious/noExplicitAny: commands type their input, and Calls passes that type to callers.
type Command = ((tx: WriteTransaction, input: any, actor: any, box?: any) => unknown) & CommandTraits;
export type Commands = Readonly<Record<string, Command>>;

interface CommandTraits {
  readonly takesLong?: true;
  readonly mayReducePermissions?: true;
  readonly needsNoReason?: true;
}

/**
 * Marks a command as potentially long regardless of its input: it covers many records, all references to one, or a
 * whole history. Such a command gets a separate commit.
 */
export function markLongRunning<C extends Command>(command: C): C {
  return Object.assign(command, { takesLong: true } as const);
}

/** Marks a command as potentially only reducing permissions. Only such commands are tried ahead of the queue. */
export function markPermissionReducing<C extends Command>(command: C): C {
  return Object.assign(command, { mayReducePermissions: true } as const);
}

/**
 * Exempts a command from the required change reason: it only affects the caller's own sign-in, or has its own reason.
 */
export function exemptFromReason<C extends Command>(command: C): C {
  return Object.assign(command, { needsNoReason: true } as const);
}

/** Thrown by a command in a dry run: rolls back all its changes, writes no transaction, and returns `result`. */
export class DryRunResult {
  readonly result: unknown;

  constructor(result: unknown) {
    this.result = result;
  }
}

/** A command from the caller's point of view. */
interface Call {
  readonly input: object;
  readonly result: unknown;
}

/** Commands by name, as a write queue accepts them. */
export type Calls = Readonly<Record<string, Call>>;
export type NoCalls = Record<never, never>;

/** The calls of a command table. */
export type CallsOf<C> = {
  readonly [N in keyof C]: {
    readonly input: InputOf<C[N]>;
    /** For type checking only: makes the input contravariant. */
    readonly takes: (input: InputOf<C[N]>) => void;
    readonly result: ResultOf<C[N]>;
  };
};

// biome-ignore lint/suspicious/noExplicitAny: the other parameters do not matter.
type InputOf<F> = F extends (tx: any, input: infer I, ...others: any[]) => unknown ? I : never;
// biome-ignore lint/suspicious/noExplicitAny: the parameters do not matter.
type ResultOf<F> = F extends (...all: any[]) => infer R ? R : never;

/** Precondition of a write: the version known to the caller, as in If-Match. */
export interface Conditional {
  readonly ifMatch?: string | null;
}

/** Input of a command that changes a record. */
export interface ChangeInput<Body> extends Conditional {
  readonly id: string;
  readonly body: Body;
}

/** Input of a command that removes a record. */
export interface Removal extends Conditional {
  readonly id: string;
  /** Removes referring records too; otherwise they block the removal. */
  readonly cascade?: boolean | undefined;
  /** Has scans ignore the record from now on, if its kind can be ignored. */
  readonly ignore?: boolean | undefined;
}

/** Input of a command that removes many records atomically. */
export interface BulkRemoval {
  readonly ids: readonly string[];
  readonly cascade?: boolean | undefined;
  readonly ignore?: boolean | undefined;
}

/** Calls of removal commands. */
export type Removing<I extends object> = {
  readonly input: I;
  readonly takes: (input: I) => void;
  readonly result: unknown;
};
