// Certificates and keys for tests, generated on demand, and their files.

import { createPrivateKey, generateKeyPairSync, KeyObject } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import "reflect-metadata";
import type { MadeCertificate, MakeCertificate } from "../../../src/tls/order.ts";
import type { PairFiles } from "../../../src/tls/pair.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

export type MadePair = MadeCertificate;

/** A self-signed pair for loopback. @param days of validity after `from` */
export async function makePair(
  from: number,
  days = 90,
  names: readonly string[] = ["localhost", "127.0.0.1", "::1"],
): Promise<MadePair> {
  return make({
    privateKey: null,
    names,
    validFrom: from,
    validTo: from + days * DAY_MS,
    serial: crypto.getRandomValues(new Uint8Array(16)),
  });
}

/** Generates a certificate in this thread. */
export const make: MakeCertificate = async (wish) =>
  (await import("../../../src/tls/make-certificate.ts")).makeCertificate(wish);

/** A self-signed pair with an RSA key of the given size. */
export async function makeRsaPair(bits: number, from: number): Promise<MadePair> {
  const { X509CertificateGenerator } = await import("@peculiar/x509");
  const algorithm = {
    name: "RSASSA-PKCS1-v1_5",
    modulusLength: bits,
    publicExponent: new Uint8Array([1, 0, 1]),
    hash: "SHA-256",
  };
  const keys = (await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"])) as CryptoKeyPair;
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: "CN=localhost",
    keys,
    signingAlgorithm: algorithm,
    notBefore: new Date(from),
    notAfter: new Date(from + 90 * DAY_MS),
    serialNumber: "01",
  });
  const privateKey = KeyObject.from(keys.privateKey).export({ type: "pkcs8", format: "pem" }) as string;
  return { certificate: certificate.toString("pem"), privateKey };
}

/** A self-signed pair with the text as every name: subject, issuer and alternative names. */
export async function makeNamedPair(text: string): Promise<MadePair> {
  const { SubjectAlternativeNameExtension, X509CertificateGenerator } = await import("@peculiar/x509");
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const keys = (await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"])) as CryptoKeyPair;
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [text] }, { O: [text] }],
    keys,
    signingAlgorithm: algorithm,
    serialNumber: "01",
    extensions: [new SubjectAlternativeNameExtension([{ type: "dns", value: text }])],
  });
  const privateKey = KeyObject.from(keys.privateKey).export({ type: "pkcs8", format: "pem" }) as string;
  return { certificate: certificate.toString("pem"), privateKey };
}

/** The same key, encrypted with a passphrase. */
export function encrypted(privateKey: string): string {
  return createPrivateKey(privateKey).export({
    type: "pkcs8",
    format: "pem",
    cipher: "aes-256-cbc",
    passphrase: "sesame",
  }) as string;
}

/** Another key of the same kind. */
export function otherKey(): string {
  return generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({
    type: "pkcs8",
    format: "pem",
  }) as string;
}

/** Writes a pair to files for a server's settings. */
export function writePair(folder: string, pair: MadePair, name = "server"): PairFiles {
  const certificate = join(folder, `${name}.crt`);
  const privateKey = join(folder, `${name}.key`);
  writeFileSync(certificate, pair.certificate);
  writeFileSync(privateKey, pair.privateKey, { mode: 0o600 });
  return {
    certificate: { path: certificate, shown: "the certificate" },
    privateKey: { path: privateKey, shown: "the key" },
  };
}
