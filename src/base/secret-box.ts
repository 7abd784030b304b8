// Encryption of secrets at rest with AES-256-GCM (NIST SP 800-38D) and a single key.
// Independent of the secrets' meaning and the key's origin: see key-file.ts.

import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from "node:crypto";
import type { Random } from "./random.ts";

/** Key length in bytes. */
export const SECRET_BOX_KEY_BYTES = 32;

/**
 * Seals strings so that they open only with the same key and context. A sealed box consists of the version byte 1, a
 * random nonce of 12 bytes, the ciphertext, and the tag of 16 bytes. Version and context are authenticated, so that a
 * box moved to another record does not open. Random nonces are safe for 2^32 boxes under one key (SP 800-38D §8.3).
 */
export class SecretBox {
  private readonly key: KeyObject;
  private readonly random: Random;

  /** Throws if the key is not 32 bytes. */
  constructor(key: Uint8Array, random: Random) {
    if (key.length !== SECRET_BOX_KEY_BYTES)
      throw new Error(`The key of a secret box has ${SECRET_BOX_KEY_BYTES} bytes, not ${key.length}.`);
    this.key = createSecretKey(key);
    this.random = random;
  }

  /**
   * `context` identifies the secret (`credential:<id>:community`); it is not stored in the box. Throws on text with
   * lone surrogates, which UTF-8 cannot encode: the opened text is exactly the sealed one.
   */
  seal(plaintext: string, context: string): Uint8Array {
    if (!plaintext.isWellFormed()) throw new Error("A secret with broken Unicode (a lone surrogate) cannot be sealed.");
    const nonce = this.random.bytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(associatedData(context));
    const ciphertext = [cipher.update(plaintext, "utf8"), cipher.final()];
    return Uint8Array.from(Buffer.concat([Uint8Array.of(VERSION), nonce, ...ciphertext, cipher.getAuthTag()]));
  }

  /** Returns the sealed text. Throws if the box is damaged, or was sealed under another context or key. */
  open(box: Uint8Array, context: string): string {
    if (box.length < HEADER_BYTES + TAG_BYTES) throw new Error("A sealed secret cannot be opened: it is truncated.");
    if (box[0] !== VERSION)
      throw new Error(`A sealed secret cannot be opened: this program does not support its version ${box[0]}.`);
    const decipher = createDecipheriv(ALGORITHM, this.key, box.subarray(1, HEADER_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(associatedData(context));
    decipher.setAuthTag(box.subarray(-TAG_BYTES));
    try {
      const plaintext = [decipher.update(box.subarray(HEADER_BYTES, -TAG_BYTES)), decipher.final()];
      return Buffer.concat(plaintext).toString("utf8");
    } catch {
      throw new Error(
        "A sealed secret cannot be opened: it is damaged, belongs to another record, or was sealed with another key.",
      );
    }
  }
}

const ALGORITHM = "aes-256-gcm";
const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + NONCE_BYTES;

function associatedData(context: string): Buffer {
  return Buffer.concat([Uint8Array.of(VERSION), Buffer.from(context, "utf8")]);
}
