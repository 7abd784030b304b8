// POP3, plain and over TLS: the greeting (RFC 1939 section 4).

import type { Fingerprint, Reading, ServiceReply } from "./fingerprint.ts";
import { firstLine } from "./line-greeting.ts";
import { identifiedAs, productIn } from "./service-text.ts";

export const pop3: Fingerprint = { name: "pop3", ports: [110], transport: "Tcp", request: null, read };

export const pop3s: Fingerprint = { name: "pop3s", ports: [995], transport: "Tls", request: null, read };

function read(answer: ServiceReply): Reading {
  const line = firstLine(answer, "+OK");
  if (line === "More") return "More";
  return line === null ? "Other" : identifiedAs(["pop3", "pop3s"], answer.port, productIn(line, PRODUCTS), "POP3");
}

const PRODUCTS = [
  ["Dovecot", /Dovecot/i],
  ["Courier POP3", /Hello there/],
  ["Cyrus POP3", /Cyrus POP3 v?(\d[\w.]*)/i],
  ["Microsoft Exchange", /Microsoft Exchange/i],
  ["Zimbra", /Zimbra/i],
] as const;
