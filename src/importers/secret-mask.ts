// Masks the secrets of an import, token and key, wherever another program repeats them: in what is printed, and in what
// would be brought into the ledger.

/** A shorter secret is part of ordinary words, and masking it would spoil what is brought. */
const SECRET_MIN_LENGTH = 8;
const MASK = "[hidden]";

export class SecretMask {
  private readonly pattern: RegExp | null;

  /** @param secrets ASCII; those of less than eight characters are not looked for */
  constructor(secrets: readonly string[]) {
    const forms = secrets
      .filter((secret) => secret.length >= SECRET_MIN_LENGTH)
      .flatMap((secret) => [secret, encodeURIComponent(secret)])
      // Of two that begin alike the longer one is masked whole.
      .sort((a, b) => b.length - a.length);
    this.pattern = forms.length === 0 ? null : new RegExp([...new Set(forms)].map(RegExp.escape).join("|"), "gi");
  }

  /** A text without the secrets, however they are cased, also as part of a URL. To be called before a text is cut. */
  text(text: string): string {
    return this.pattern === null ? text : text.replace(this.pattern, MASK);
  }

  /** The same error without the secrets in what it says. */
  error(error: unknown): unknown {
    if (!(error instanceof Error)) return error;
    error.message = this.text(error.message);
    if (error.stack !== undefined) error.stack = this.text(error.stack);
    return error;
  }

  /** The value of a JSON text without the secrets, names of members included. @throws SyntaxError for text that is not JSON */
  parsed(text: string): unknown {
    const value: unknown = JSON.parse(text);
    // A backslash may stand for any character of a secret.
    const isSuspect = this.pattern !== null && (text.includes("\\") || text.search(this.pattern) !== -1);
    return isSuspect ? this.masked(value) : value;
  }

  private masked(value: unknown): unknown {
    if (typeof value === "string") return this.text(value);
    if (Array.isArray(value)) return value.map((each) => this.masked(each));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [this.text(name), this.masked(each)]));
  }
}
