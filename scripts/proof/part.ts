// Proof types: the parts of the proof test the compiled executable and return findings.

/** `short` runs with the tests, in a minute or two; `long` produces the handbook's figures. */
export type Form = "short" | "long";

export interface ProofContext {
  readonly form: Form;
  /** The compiled executable. */
  readonly executable: string;
  /** Empty directory for this part alone; the caller removes it. */
  readonly directory: string;
  /** Source of all randomness, so that a run can be repeated. */
  readonly seed: number;
  /** Choices of the world part. */
  readonly world?: WorldChoice;
  /** Reports progress, one line at a time. */
  readonly say: (line: string) => void;
}

/** Runs of the world part; the default depends on the form. */
export interface WorldChoice {
  readonly seeds?: readonly number[];
  readonly days?: number;
  /** JSON file of rates. */
  readonly rates?: string;
}

/** One sentence about the appliance, and whether it holds. */
export interface Finding {
  /** Behavior of the appliance, worded like a test title and independent of the result. */
  readonly claim: string;
  readonly held: boolean;
  /** Measured values with units; on a failure, the observed values. */
  readonly figure: string;
}

/**
 * Makes the finding for a claim that holds if nothing is wrong.
 * @param faults figure if something is wrong
 */
export function findingOf(
  claim: string,
  wrong: readonly string[],
  figure: string,
  faults: string = wrong.join("; "),
): Finding {
  return { claim, held: wrong.length === 0, figure: wrong.length === 0 ? figure : faults };
}

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface Proof {
  readonly findings: readonly Finding[];
  readonly tables?: readonly Table[];
  /** Tests that are impossible on this machine, one sentence each with the reason. */
  readonly skipped?: readonly string[];
}

export interface Part {
  /** Name on the command line: `./scripts/prove kill`. */
  readonly name: string;
  readonly title: string;
  /** @throws Error if no findings can be made: a mistake of the proof, not of the appliance */
  readonly prove: (context: ProofContext) => Promise<Proof>;
}

/** Combines the results of several proofs of a part. */
export function mergeProofs(proofs: readonly Proof[]): Proof {
  return {
    findings: proofs.flatMap(({ findings }) => findings),
    tables: proofs.flatMap(({ tables = [] }) => tables),
    skipped: proofs.flatMap(({ skipped = [] }) => skipped),
  };
}
