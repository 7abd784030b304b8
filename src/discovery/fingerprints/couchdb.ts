// CouchDB: the welcome message at its root.

import { jsonOverHttp, withVersion } from "./json-over-http.ts";

export const couchdb = jsonOverHttp({
  name: "couchdb",
  ports: [5984],
  transport: "Tcp",
  path: "/",
  definition: "couchdb",
  nameIn: (body) => (body?.couchdb === "Welcome" ? withVersion("CouchDB", body.version) : null),
});
