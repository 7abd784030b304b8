// A read as a curl command: what the page shows, for scripts. With the variable of a key, never the cookie.

/** The command for an address below the origin, as a POSIX shell takes it. */
export function curlOf(url: string, origin: string): string {
  return `curl -H "Authorization: Bearer $NETLEDGER_KEY" '${origin}${url.replaceAll("'", "%27")}'`;
}

/** The export of a list as CSV with the same parameters; null where the read is no list that can be exported. */
export function csvOf(url: string): string | null {
  const [path = "", query = ""] = url.split("?");
  const parameters = new URLSearchParams(query);
  for (const name of ["limit", "offset", "include"]) parameters.delete(name);
  const rest = parameters.toString();
  return `${path}/export/csv${rest === "" ? "" : `?${rest}`}`;
}
