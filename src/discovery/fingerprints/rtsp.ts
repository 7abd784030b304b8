// RTSP: the server header of a camera or media server, in response to OPTIONS (RFC 7826 section 13.1).

import type { Fingerprint } from "./fingerprint.ts";
import { parseHttpResponse } from "./http-response.ts";
import { identified } from "./service-text.ts";

export const rtsp: Fingerprint = {
  name: "rtsp",
  ports: [554, 8554],
  transport: "Tcp",
  request: () => new TextEncoder().encode("OPTIONS * RTSP/1.0\r\nCSeq: 1\r\nUser-Agent: netledger\r\n\r\n"),
  read: ({ bytes, isComplete }) => {
    const response = parseHttpResponse(bytes, isComplete, "RTSP");
    if (response === "More" || response === null) return response ?? "Other";
    return identified(response.headers.get("server")?.replace(/(?<=[A-Za-z])\/(?=v?\d)/g, " ") || "RTSP", "rtsp");
  },
};
