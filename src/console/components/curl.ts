// API requests as curl commands, with a variable for the API key and never the cookie; CSV export URLs.

/** curl command for a URL path of the origin, quoted for a POSIX shell. */
export function curlOf(url: string, origin: string): string {
  return `curl -H "Authorization: Bearer $NETLEDGER_KEY" '${origin}${url.replaceAll("'", "%27")}'`;
}

/** URL of a list's CSV export with the same parameters. */
export function csvOf(url: string): string {
  const [path = "", query = ""] = url.split("?");
  const parameters = new URLSearchParams(query);
  for (const name of ["limit", "offset", "include"]) parameters.delete(name);
  const rest = parameters.toString();
  return `${path}/export/csv${rest === "" ? "" : `?${rest}`}`;
}
