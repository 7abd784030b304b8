// Certificates and keys for tests, generated on demand, and their files.

import { createPrivateKey, generateKeyPairSync, KeyObject } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import "reflect-metadata";
import type { GeneratedCertificate, MakeCertificate } from "../../../src/tls/certificate-thread.ts";
import type { PairFiles } from "../../../src/tls/pair.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

export type CertificatePair = GeneratedCertificate;

/** A self-signed pair for loopback. @param from start of validity @param days days of validity */
export async function makePair(
  from: number,
  days = 90,
  names: readonly string[] = ["localhost", "127.0.0.1", "::1"],
): Promise<CertificatePair> {
  return generateCertificate({
    privateKey: null,
    names,
    validFrom: from,
    validTo: from + days * DAY_MS,
    serial: crypto.getRandomValues(new Uint8Array(16)),
  });
}

/** Generates a certificate in this thread. */
export const generateCertificate: MakeCertificate = async (request) =>
  (await import("../../../src/tls/make-certificate.ts")).makeCertificate(request);

/** A self-signed pair with an RSA key of the given size. */
export async function makeRsaPair(bits: number, from: number): Promise<CertificatePair> {
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

/** A self-signed pair with the string as every name: subject, issuer and alternative names. */
export async function makeNamedPair(text: string): Promise<CertificatePair> {
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

/** Encrypts a key with a passphrase. */
export function encryptKey(privateKey: string): string {
  const encrypted = { type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "sesame" } as const;
  return createPrivateKey(privateKey).export(encrypted) as string;
}

/** Generates a key of the same kind as a pair's. */
export function generateKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ type: "pkcs8", format: "pem" }) as string;
}

/** Writes a pair to files for a server's settings. */
export function writePair(folder: string, pair: CertificatePair, name = "server"): PairFiles {
  const certificate = join(folder, `${name}.crt`);
  const privateKey = join(folder, `${name}.key`);
  writeFileSync(certificate, pair.certificate);
  writeFileSync(privateKey, pair.privateKey, { mode: 0o600 });
  return {
    certificate: { path: certificate, displayName: "the certificate" },
    privateKey: { path: privateKey, displayName: "the key" },
  };
}
