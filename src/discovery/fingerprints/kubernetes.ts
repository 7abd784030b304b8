// Kubernetes: the version of an API server, which most publish without authentication.

import { jsonOverHttp, withVersion } from "./json-over-http.ts";

export const kubernetes = jsonOverHttp({
  name: "kubernetes",
  ports: [6443],
  transport: "Tls",
  path: "/version",
  definition: "kubernetes",
  nameIn: (body) => {
    if (typeof body?.gitVersion === "string") return withVersion("Kubernetes", body.gitVersion);
    // Servers that do not publish it refuse with a Status object.
    return body?.kind === "Status" && body.apiVersion === "v1" ? "Kubernetes" : null;
  },
});
