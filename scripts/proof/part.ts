// What a part of the proof is: something that the compiled executable is put through, and what came of it.

/** `short` is what the tests run, in a minute or two; `long` is what the README's figures are of. */
export type Form = "short" | "long";

export interface Proving {
  readonly form: Form;
  /** The compiled executable. */
  readonly executable: string;
  /** An empty folder for this part alone; whoever called removes it. */
  readonly directory: string;
  /** All that is random comes from it, so that a run can be repeated. */
  readonly seed: number;
  /** Tells how far it is: one line. */
  readonly say: (line: string) => void;
}

/** One sentence about the appliance, and whether it held. */
export interface Finding {
  /** As a test would be named: what the appliance does. Always the same sentence, whatever came out. */
  readonly claim: string;
  readonly held: boolean;
  /** What was measured, with units; where it did not hold, what was seen instead. */
  readonly figure: string;
}

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface Proof {
  readonly findings: readonly Finding[];
  readonly tables?: readonly Table[];
  /** What could not be tried on this machine, and why: one sentence each. */
  readonly leftOut?: readonly string[];
}

export interface Part {
  /** As it is typed: `./scripts/prove kill`. */
  readonly name: string;
  readonly title: string;
  /** @throws whatever keeps it from coming to findings at all: a mistake of the proof, not of the appliance */
  readonly prove: (proving: Proving) => Promise<Proof>;
}

/** What several pieces of a part came to, as one. */
export function merged(proofs: readonly Proof[]): Proof {
  return {
    findings: proofs.flatMap(({ findings }) => findings),
    tables: proofs.flatMap(({ tables = [] }) => tables),
    leftOut: proofs.flatMap(({ leftOut = [] }) => leftOut),
  };
}
