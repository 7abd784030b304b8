// Prometheus: the build version.

import { jsonOverHttp, objectOf, withVersion } from "./json-over-http.ts";

export const prometheus = jsonOverHttp({
  name: "prometheus",
  ports: [9090],
  transport: "Tcp",
  path: "/api/v1/status/buildinfo",
  definition: "prometheus",
  nameIn: (body) => {
    const data = objectOf(body?.data);
    return body?.status === "success" && data?.goVersion !== undefined ? withVersion("Prometheus", data.version) : null;
  },
});
