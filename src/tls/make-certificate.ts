// Generator for keys and self-signed certificates (RFC 5280) as PEM. Importers must import reflect-metadata first.

import { createPrivateKey, createPublicKey } from "node:crypto";
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";
import { parseIp } from "../base/ip.ts";
import type { CertificateSpec, GeneratedCertificate } from "./certificate-thread.ts";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

/** A self-signed server certificate, ECDSA on P-256. */
export async function makeCertificate({
  privateKey: given,
  names,
  validFrom,
  validTo,
  serial,
}: CertificateSpec): Promise<GeneratedCertificate> {
  const privateKey = given ?? (await makeKey());
  const key = createPrivateKey(privateKey);
  const keys = {
    privateKey: await crypto.subtle.importKey("pkcs8", key.export({ type: "pkcs8", format: "der" }), ALGORITHM, false, [
      "sign",
    ]),
    publicKey: await crypto.subtle.importKey(
      "spki",
      createPublicKey(key).export({ type: "spki", format: "der" }),
      ALGORITHM,
      true,
      ["verify"],
    ),
  };
  // Positive, and without a leading octet that DER would omit (RFC 5280 section 4.1.2.2).
  const positive = Uint8Array.from(serial, (byte, index) => (index === 0 ? (byte & 0x3f) | 0x40 : byte));
  const commonName =
    names.find((name) => name !== "localhost" && parseIp(name) === null && name.length <= COMMON_NAME_MAX) ??
    "netledger";
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: positive.toHex(),
    name: [{ CN: [commonName] }, { O: ["netledger"] }],
    notBefore: new Date(validFrom),
    notAfter: new Date(validTo),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension(
        names.map((name) => ({ type: parseIp(name) === null ? "dns" : "ip", value: name })),
      ),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { privateKey, certificate: `${certificate.toString("pem")}\n` };
}

/** PKCS #8. */
async function makeKey(): Promise<string> {
  const keys = (await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"])) as CryptoKeyPair;
  return `${PemConverter.encode(await crypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY")}\n`;
}

/** RFC 5280 appendix A, ub-common-name. */
const COMMON_NAME_MAX = 64;
