// etcd: the version of a server without TLS.

import { jsonOverHttp, withVersion } from "./json-over-http.ts";

export const etcd = jsonOverHttp({
  name: "etcd",
  ports: [2379],
  transport: "Tcp",
  path: "/version",
  definition: "etcd-client",
  nameIn: (body) => (typeof body?.etcdserver === "string" ? withVersion("etcd", body.etcdserver) : null),
});
