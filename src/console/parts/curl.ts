// Reads as curl commands, for scripts. Contain a variable for the API key, never the cookie.

/** Command for a URL below the origin, quoted for a POSIX shell. */
export function curlOf(url: string, origin: string): string {
  return `curl -H "Authorization: Bearer $NETLEDGER_KEY" '${origin}${url.replaceAll("'", "%27")}'`;
}

/** CSV export of a list with the same parameters; null if the read has no export. */
export function csvOf(url: string): string | null {
  const [path = "", query = ""] = url.split("?");
  const parameters = new URLSearchParams(query);
  for (const name of ["limit", "offset", "include"]) parameters.delete(name);
  const rest = parameters.toString();
  return `${path}/export/csv${rest === "" ? "" : `?${rest}`}`;
}
