// Part of the proof: a series of tests of the compiled executable, and its findings.

/** `short` runs in the tests, within a minute or two; `long` produces the README's figures. */
export type Form = "short" | "long";

export interface Proving {
  readonly form: Form;
  /** The compiled executable. */
  readonly executable: string;
  /** An empty folder for this part only; the caller removes it. */
  readonly directory: string;
  /** Source of all randomness, so that a run can be repeated. */
  readonly seed: number;
  /** Reports progress: one line. */
  readonly say: (line: string) => void;
}

/** One sentence about the appliance, and whether it holds. */
export interface Finding {
  /** Like a test name: the behavior of the appliance. Constant, whatever the result. */
  readonly claim: string;
  readonly held: boolean;
  /** Measured values with units; on a failure, the observed values. */
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
  /** Tests impossible on this machine, with the reason: one sentence each. */
  readonly leftOut?: readonly string[];
}

export interface Part {
  /** As on the command line: `./scripts/prove kill`. */
  readonly name: string;
  readonly title: string;
  /** @throws any failure to reach findings: a mistake of the proof, not of the appliance */
  readonly prove: (proving: Proving) => Promise<Proof>;
}

/** Combined result of several pieces of a part. */
export function merged(proofs: readonly Proof[]): Proof {
  return {
    findings: proofs.flatMap(({ findings }) => findings),
    tables: proofs.flatMap(({ tables = [] }) => tables),
    leftOut: proofs.flatMap(({ leftOut = [] }) => leftOut),
  };
}
