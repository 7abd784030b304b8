// Randomness source, the only module that draws from it. All code that needs randomness takes a Random.

export interface Random {
  /** `count` bytes from a cryptographically secure source. */
  bytes(count: number): Uint8Array;
}

export const systemRandom: Random = {
  bytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
};
