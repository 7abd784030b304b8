// Elasticsearch and OpenSearch: the JSON at their root.

import { jsonOverHttp, objectOf, withVersion } from "./json-over-http.ts";

export const elasticsearch = jsonOverHttp({
  name: "elasticsearch",
  ports: [9200],
  transport: "Tcp",
  path: "/",
  definition: "elasticsearch",
  nameIn: (body) => {
    const version = objectOf(body?.version);
    if (version === null || typeof body?.tagline !== "string") return null;
    return withVersion(version.distribution === "opensearch" ? "OpenSearch" : "Elasticsearch", version.number);
  },
});
