// FTP: the greeting (RFC 959 section 5.4).

import type { Fingerprint } from "./fingerprint.ts";
import { numberedReply } from "./line-greeting.ts";
import { identified, productIn } from "./service-text.ts";

const PORTS = [21, 2121];

export const ftp: Fingerprint = {
  name: "ftp",
  ports: PORTS,
  transport: "Tcp",
  request: null,
  read: (answer) => {
    const reply = numberedReply(answer);
    if (reply === "More") return "More";
    if (reply === null || ![120, 220, 421, 530].includes(reply.code)) return "Other";
    const isFtp = /ftp/i.test(reply.text) || (PORTS.includes(answer.port) && !/smtp|mail/i.test(reply.text));
    return isFtp ? identified(productIn(reply.text, PRODUCTS) ?? "FTP", "ftp") : "Other";
  },
};

const PRODUCTS = [
  ["vsftpd", /vsFTPd ([\w.]+)/i],
  ["ProFTPD", /ProFTPD (\d[\w.]*)/i],
  ["ProFTPD", /ProFTPD/i],
  ["Pure-FTPd", /Pure-FTPd/i],
  ["FileZilla Server", /FileZilla Server(?: version)? (\d[\w.]*)/i],
  ["FileZilla Server", /FileZilla Server/i],
  ["Microsoft FTP Service", /Microsoft FTP Service/i],
  ["Serv-U FTP Server", /Serv-U FTP Server v?(\d[\w.]*)/i],
  ["MikroTik FTP server", /MikroTik (?:FTP server|[\d.]+)/i],
  ["bftpd", /bftpd (\d[\w.]*)/i],
  ["GNU inetutils ftpd", /FTP server \(GNU inetutils (\d[\w.]*)/i],
] as const;
