// InfluxDB: the version in the headers of every response.

import { jsonOverHttp, withVersion } from "./json-over-http.ts";

export const influxdb = jsonOverHttp({
  name: "influxdb",
  ports: [8086],
  transport: "Tcp",
  path: "/ping",
  definition: "influxdb",
  nameIn: (_body, { headers }) => {
    const version = headers.get("x-influxdb-version");
    return version === undefined ? null : withVersion("InfluxDB", version);
  },
});
