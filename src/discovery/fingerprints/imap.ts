// IMAP, plain and over TLS: the greeting (RFC 9051 section 7.1).

import type { Fingerprint, Reading, ServiceReply } from "./fingerprint.ts";
import { firstLine } from "./line-greeting.ts";
import { identifiedAs, productIn } from "./service-text.ts";

export const imap: Fingerprint = { name: "imap", ports: [143], transport: "Tcp", request: null, read };

export const imaps: Fingerprint = { name: "imaps", ports: [993], transport: "Tls", request: null, read };

function read(answer: ServiceReply): Reading {
  const line = firstLine(answer, "* ");
  if (line === "More") return "More";
  if (line === null || !/^\* (?:OK|PREAUTH|BYE)\b/i.test(line)) return "Other";
  return identifiedAs(["imap", "imaps"], answer.port, productIn(line, PRODUCTS), "IMAP");
}

const PRODUCTS = [
  ["Dovecot", /Dovecot/i],
  ["Courier IMAP", /Courier-IMAP/i],
  ["Cyrus IMAP", /Cyrus IMAP (?:v)?(\d[\w.]*)/i],
  ["Microsoft Exchange", /Microsoft Exchange/i],
  ["Zimbra", /Zimbra/i],
] as const;
