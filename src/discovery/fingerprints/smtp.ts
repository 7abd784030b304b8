// SMTP and mail submission, plain and over TLS: the greeting (RFC 5321 section 4.2, RFC 8314).

import type { Fingerprint, Reading, ServiceReply } from "./fingerprint.ts";
import { numberedReply } from "./line-greeting.ts";
import { identifiedAs, productIn } from "./service-text.ts";

const PORTS = [25, 587, 2525];

export const smtp: Fingerprint = {
  name: "smtp",
  ports: PORTS,
  transport: "Tcp",
  request: null,
  read: (answer) => read(answer, PORTS),
};

export const smtps: Fingerprint = {
  name: "smtps",
  ports: [465],
  transport: "Tls",
  request: null,
  read: (answer) => read(answer, [465]),
};

function read(answer: ServiceReply, ports: readonly number[]): Reading {
  const reply = numberedReply(answer);
  if (reply === "More") return "More";
  if (reply === null || ![220, 421, 521, 554].includes(reply.code)) return "Other";
  const isMail = /e?smtp/i.test(reply.text) || (ports.includes(answer.port) && !/ftp/i.test(reply.text));
  return isMail
    ? identifiedAs(["smtp", "submission", "submissions"], answer.port, productIn(reply.text, PRODUCTS), "SMTP")
    : "Other";
}

const PRODUCTS = [
  ["Postfix", /Postfix/i],
  ["Exim", /Exim (\d[\w.]*)/i],
  ["Sendmail", /Sendmail (\d[\w.]*)/i],
  ["OpenSMTPD", /OpenSMTPD/i],
  ["Microsoft Exchange", /Microsoft ESMTP MAIL Service/i],
  ["Haraka", /Haraka/i],
  ["MDaemon", /MDaemon (\d[\w.]*)/i],
  ["MailEnable", /MailEnable/i],
  ["hMailServer", /hMailServer/i],
  ["Kerio Connect", /Kerio Connect (\d[\w.]*)/i],
  ["IBM Domino", /Domino Release (\d[\w.]*)/i],
] as const;
