// Masking of an import's secrets, token and key, wherever a server repeats them: in output and in data for the ledger.

/** A shorter secret occurs in ordinary words, and masking it would corrupt imported data. */
const SECRET_MIN_LENGTH = 8;
const MASK = "[hidden]";

export class SecretMask {
  private readonly pattern: RegExp | null;

  /** @param secrets ASCII; those shorter than eight characters are ignored */
  constructor(secrets: readonly string[]) {
    const forms = secrets
      .filter((secret) => secret.length >= SECRET_MIN_LENGTH)
      .flatMap((secret) => [secret, encodeURIComponent(secret)])
      // Longest first: of two with a common prefix, the longer is masked as a whole.
      .sort((a, b) => b.length - a.length);
    this.pattern = forms.length === 0 ? null : new RegExp([...new Set(forms)].map(RegExp.escape).join("|"), "gi");
  }

  /** Masks the secrets in a string, in any case and even URL-encoded. Call before truncating a string. */
  text(text: string): string {
    return this.pattern === null ? text : text.replace(this.pattern, MASK);
  }

  /** Returns the same error with the secrets in its messages masked. */
  error(error: unknown): unknown {
    if (!(error instanceof Error)) return error;
    error.message = this.text(error.message);
    if (error.stack !== undefined) error.stack = this.text(error.stack);
    return error;
  }

  /** Parses JSON and masks the secrets, including in member names. @throws SyntaxError for text that is not JSON */
  parse(text: string): unknown {
    const value: unknown = JSON.parse(text);
    // A backslash may encode any character of a secret.
    const isSuspect = this.pattern !== null && (text.includes("\\") || text.search(this.pattern) !== -1);
    return isSuspect ? this.mask(value) : value;
  }

  private mask(value: unknown): unknown {
    if (typeof value === "string") return this.text(value);
    if (Array.isArray(value)) return value.map((each) => this.mask(each));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [this.text(name), this.mask(each)]));
  }
}
