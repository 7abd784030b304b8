// The one place that draws randomness. Everything that needs it takes a Random.

export interface Random {
  /** `count` bytes from a cryptographically secure source. */
  bytes(count: number): Uint8Array;
}

export const systemRandom: Random = {
  bytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
};
