// What a command is, what is known of it before it runs, and how its callers see it. Knows no command.

import type { WriteTransaction } from "./transaction.ts";

/** A plain synchronous function. Throwing undoes all that it did. `box` seals secrets. */
// biome-ignore lint/suspicious/noExplicitAny: each command's input is typed where it is defined and, by Calls, where it is called.
type Command = ((tx: WriteTransaction, input: any, actor: any, box?: any) => unknown) & CommandTraits;
export type Commands = Readonly<Record<string, Command>>;

interface CommandTraits {
  readonly takesLong?: true;
  readonly mayLowerRights?: true;
  readonly needsNoReason?: true;
}

/**
 * Declares that a command may take long whatever it is sent with: it is of many records, of all that refer to one, or
 * of all that it ever was. It has a commit of its own.
 */
export function takingLong<C extends Command>(command: C): C {
  return Object.assign(command, { takesLong: true } as const);
}

/** Declares that a command may come to nothing but less rights. Only those are tried before it is their turn. */
export function loweringRights<C extends Command>(command: C): C {
  return Object.assign(command, { mayLowerRights: true } as const);
}

/**
 * Declares that nobody has to say why, whatever is demanded of other writes: it is of the caller's own sign-in alone,
 * or has a reason of its own.
 */
export function needingNoReason<C extends Command>(command: C): C {
  return Object.assign(command, { needsNoReason: true } as const);
}

/**
 * What a command throws that was only to be tried: all that it did is undone, and `result` is what it came to. It made
 * no transaction.
 */
export class Tried {
  readonly result: unknown;

  constructor(result: unknown) {
    this.result = result;
  }
}

/** A command as whoever asks for it sees it. */
interface Call {
  readonly input: object;
  readonly result: unknown;
}

/** Commands by name, as a queue of writes takes them. */
export type Calls = Readonly<Record<string, Call>>;
export type NoCalls = Record<never, never>;

/** The calls of a table of commands. */
export type CallsOf<C> = {
  readonly [N in keyof C]: {
    readonly input: InputOf<C[N]>;
    /** Of no use but to the compiler: nothing takes more than it is handed. */
    readonly takes: (input: InputOf<C[N]>) => void;
    readonly result: ResultOf<C[N]>;
  };
};

// biome-ignore lint/suspicious/noExplicitAny: what it does not ask for can be anything.
type InputOf<F> = F extends (tx: any, input: infer I, ...others: any[]) => unknown ? I : never;
// biome-ignore lint/suspicious/noExplicitAny: what it does not ask for can be anything.
type ResultOf<F> = F extends (...all: any[]) => infer R ? R : never;

/** What a caller may hold a write against: the version that it knows, as If-Match has it. */
export interface Conditional {
  readonly ifMatch?: string | null;
}

/** What changes a record. */
export interface ChangeInput<Body> extends Conditional {
  readonly id: string;
  readonly body: Body;
}

/** What removes a record. */
export interface Removal extends Conditional {
  readonly id: string;
  /** Also what refers to it; else that stands in the way. */
  readonly cascade?: boolean | undefined;
}

/** What removes many records, all or none. */
export interface BulkRemoval {
  readonly ids: readonly string[];
  readonly cascade?: boolean | undefined;
}

/** The calls of commands that remove. */
export type Removing<I extends object> = {
  readonly input: I;
  readonly takes: (input: I) => void;
  readonly result: unknown;
};
