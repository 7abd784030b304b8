// HTTP and HTTPS: the server header and the title of the root page.

import type { Fingerprint, Reading, ServiceReply } from "./fingerprint.ts";
import { htmlTitle } from "./html-title.ts";
import { getRequest, type HttpResponse, parseHttpResponse } from "./http-response.ts";
import { decodedText, identifiedAs, oneLine } from "./service-text.ts";

const PLAIN_PORTS = [
  80, 81, 591, 631, 2375, 3000, 3128, 5000, 5601, 5984, 7001, 8000, 8008, 8080, 8081, 8086, 8088, 8123, 8888, 9000,
  9090, 9091, 9200, 10_000,
];
const TLS_PORTS = [
  443, 631, 2376, 4443, 5001, 5986, 6443, 7443, 8006, 8080, 8081, 8443, 8834, 9000, 9090, 9200, 9443, 10_000, 10_250,
  10_443,
];

/** Before https: on ports used by both, a server that requires TLS says so in response to a plain request. */
export const http: Fingerprint = {
  name: "http",
  ports: PLAIN_PORTS,
  transport: "Tcp",
  request: ({ host }) => getRequest(host, "/"),
  read: (response) => read(response, ["http", "http-alt", "ipp"], "HTTP"),
};

export const https: Fingerprint = {
  name: "https",
  ports: TLS_PORTS,
  transport: "Tls",
  request: ({ host }) => getRequest(host, "/"),
  read: (response) => read(response, ["https", "https-alt", "ipp"], "HTTPS"),
};

function read(
  { bytes, isComplete, port }: ServiceReply,
  family: readonly [string, ...string[]],
  fallback: string,
): Reading {
  const response = parseHttpResponse(bytes, isComplete);
  if (response === "More") return "More";
  if (response === null) return "Other";
  const page = htmlTitle(response.body, response.headers.get("content-type") ?? "");
  const isEnough = response.isBodyComplete || page !== null || (response.status !== 400 && !isSuccess(response));
  if (!isEnough) return "More";
  if (response.status === 400 && /HTTPS? (?:port|server)|SSL-enabled|TLS/i.test(decodedText(response.body)))
    return "Other";
  const server = productOf(response.headers.get("server") ?? "");
  const title = titleOf(response, page);
  const name = server !== "" && title !== "" ? `${server}: ${title}` : server || title || null;
  return identifiedAs(family, port, name, fallback);
}

function isSuccess({ status }: HttpResponse): boolean {
  return status >= 200 && status < 300;
}

/** `nginx/1.22.1` as `nginx 1.22.1`. */
function productOf(server: string): string {
  return oneLine(server, 60).replace(/(?<=[A-Za-z])\/(?=v?\d)/g, " ");
}

/**
 * Returns the page title on success only: titles of errors and redirects say nothing about the device. The realm of a
 * password-protected page does identify it.
 */
function titleOf(response: HttpResponse, page: string | null): string {
  if (isSuccess(response)) return page ?? "";
  const realm =
    response.status === 401
      ? /\brealm="?([^",]*)/i.exec(response.headers.get("www-authenticate") ?? "")?.[1]
      : undefined;
  return oneLine(realm ?? "", 60);
}
