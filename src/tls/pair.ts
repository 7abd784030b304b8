// TLS certificate and private key, read from PEM files and validated, so that errors appear at startup and not with the
// first client. Does not generate certificates.

import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import type { Instant } from "../base/instant.ts";
import { describeReadError, readRegular } from "../base/regular-file.ts";

/** A usable certificate and key. */
export interface TlsPair {
  /** PEM, the server's own certificate followed by its chain (RFC 7468). */
  readonly certificate: string;
  /** PEM. */
  readonly privateKey: string;
  /** SHA-256 of the server's own certificate, as shown by browsers and openssl: `AA:BB:…`. */
  readonly fingerprint: string;
  /** Subject and issuer: `CN=netledger, O=Example`. */
  readonly subject: string;
  readonly issuer: string;
  /** Subject alternative names in the format of node:crypto; empty for none. */
  readonly names: string;
  readonly validFrom: Instant;
  readonly validTo: Instant;
}

/** Names of the two files in messages: a flag and its path, or a path alone. */
export interface PairFiles {
  readonly certificate: { readonly path: string; readonly displayName: string };
  readonly privateKey: { readonly path: string; readonly displayName: string };
}

/** `message` is one sentence for the operator, without its full stop. Never contains any part of a key. */
export class TlsRefused extends Error {
  override readonly name = "TlsRefused";
}

/**
 * Reads and validates both files. Accepts an expired certificate: it may be the only one available.
 * @throws TlsRefused
 */
export function readTlsPair(files: PairFiles): TlsPair {
  const certificate = readPem(files.certificate.path, files.certificate.displayName);
  const [own, ...chain] = certificatesIn(certificate, files.certificate.displayName);
  const keyText = readPem(files.privateKey.path, files.privateKey.displayName);
  const key = keyIn(keyText, files.privateKey.displayName);
  if (!own.checkPrivateKey(key)) {
    const isInChain = chain.some((each) => each.checkPrivateKey(key));
    throw new TlsRefused(
      isInChain
        ? `${files.certificate.displayName} has the server's own certificate after others: it must come first, followed by the chain`
        : `${files.privateKey.displayName} is not the key of the certificate in ${files.certificate.path}`,
    );
  }
  // OpenSSL loads it, but every handshake fails.
  const bits = key.asymmetricKeyType === "rsa" ? (key.asymmetricKeyDetails?.modulusLength ?? 0) : RSA_BITS_MIN;
  if (bits < RSA_BITS_MIN)
    throw new TlsRefused(
      `${files.privateKey.displayName} is an RSA key of ${bits} bits: clients require at least ${RSA_BITS_MIN}`,
    );
  const privateKey = key.export({ type: "pkcs8", format: "pem" }) as string;
  try {
    // Detects what Bun would reject when listening.
    createSecureContext({ cert: certificate, key: privateKey });
  } catch (error) {
    throw new TlsRefused(
      `${files.certificate.displayName} cannot be used for TLS (${error instanceof Error ? error.message : error})`,
    );
  }
  return {
    certificate,
    privateKey,
    fingerprint: own.fingerprint256,
    subject: inOneLine(own.subject),
    issuer: inOneLine(own.issuer),
    names: own.subjectAltName ?? "",
    validFrom: Date.parse(own.validFrom),
    validTo: Date.parse(own.validTo),
  };
}

/** DNS names of a certificate, including wildcards (RFC 6125 section 6.4). */
export function dnsNamesOf({ names }: Pick<TlsPair, "names">): string[] {
  // node:crypto quotes ambiguous names; no host has such a name.
  const plain = names.replaceAll(/"(?:[^"\\]|\\.)*"/g, "");
  return plain.split(", ").flatMap((each) => (/^DNS:./.test(each) ? [each.slice("DNS:".length)] : []));
}

/** A distinguished name on one line; node:crypto returns one line per part. */
function inOneLine(name: string | undefined): string {
  return (name ?? "").split("\n").join(", ");
}

/** Browsers and TLS libraries reject shorter keys (NIST SP 800-131A). */
const RSA_BITS_MIN = 2_048;

/** Longer files are not certificates or keys. */
const MAX_BYTES = 1024 * 1024;

/**
 * Reads the file of a certificate or key as text.
 * @param displayName its name in messages
 * @throws TlsRefused
 */
export function readPem(path: string, displayName: string): string {
  let bytes: Uint8Array;
  try {
    bytes = readRegular(path, MAX_BYTES);
  } catch (error) {
    throw new TlsRefused(`${displayName} ${describeReadError(error)}`);
  }
  // DER and PKCS #12 begin with a SEQUENCE (X.690 section 8.9).
  if (bytes[0] === 0x30) throw new TlsRefused(`${displayName} is DER or PKCS #12, not PEM: convert it with openssl`);
  return new TextDecoder().decode(bytes);
}

const PEM_BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]+?-----END \1-----/g;

function blocksIn(text: string): { label: string; text: string }[] {
  return [...text.matchAll(PEM_BLOCK)].map((match) => ({ label: match[1] as string, text: match[0] }));
}

/**
 * The certificates of a PEM text, in file order.
 * @param displayName name of its file in messages
 * @throws TlsRefused if there are none, or one cannot be parsed
 */
export function certificatesIn(text: string, displayName: string): [X509Certificate, ...X509Certificate[]] {
  const blocks = blocksIn(text);
  const certificates = blocks.filter(({ label }) => /^(X509 |TRUSTED )?CERTIFICATE$/.test(label));
  if (certificates.length === 0) {
    const hasKey = blocks.some(({ label }) => label.endsWith("PRIVATE KEY"));
    throw new TlsRefused(
      hasKey
        ? `${displayName} holds a private key instead of a certificate: are the two files swapped?`
        : `${displayName} is not PEM: it contains no -----BEGIN CERTIFICATE-----`,
    );
  }
  return certificates.map((block, index) => {
    try {
      return new X509Certificate(block.text);
    } catch {
      throw new TlsRefused(
        `${displayName} is damaged: its certificate ${index + 1} of ${certificates.length} cannot be parsed`,
      );
    }
  }) as [X509Certificate, ...X509Certificate[]];
}

function keyIn(text: string, displayName: string): KeyObject {
  const blocks = blocksIn(text);
  const block = blocks.find(({ label }) => label.endsWith("PRIVATE KEY"));
  if (block === undefined) {
    const hasCertificate = blocks.some(({ label }) => label.endsWith("CERTIFICATE"));
    throw new TlsRefused(
      hasCertificate
        ? `${displayName} holds a certificate instead of a private key: are the two files swapped?`
        : `${displayName} is not PEM: it contains no -----BEGIN PRIVATE KEY-----`,
    );
  }
  if (block.label.startsWith("ENCRYPTED") || /^Proc-Type: *4, *ENCRYPTED/m.test(block.text)) {
    throw new TlsRefused(
      `${displayName} is encrypted, and netledger cannot ask for its passphrase: write it without one (openssl pkey -in FILE -out NEW)`,
    );
  }
  try {
    return createPrivateKey(block.text);
  } catch {
    throw new TlsRefused(
      `${displayName} is damaged, or of an unsupported kind (supported: RSA, P-256, P-384, P-521 and Ed25519): its private key cannot be parsed`,
    );
  }
}
