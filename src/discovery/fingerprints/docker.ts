// Docker: the version of an engine without TLS.

import { jsonOverHttp, withVersion } from "./json-over-http.ts";

export const docker = jsonOverHttp({
  name: "docker",
  ports: [2375],
  transport: "Tcp",
  path: "/version",
  definition: "docker",
  nameIn: (body) => (typeof body?.ApiVersion === "string" ? withVersion("Docker", body.Version) : null),
});
