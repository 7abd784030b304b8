// Request path for the log and the routes, even without a Host header.

import { expect, test } from "bun:test";
import { pathOf } from "../../src/http/request.ts";

test.each([
  ["http://localhost/api/v1/hosts", "/api/v1/hosts"],
  ["https://localhost:8080/api/v1/hosts?at=-24h#x", "/api/v1/hosts"],
  ["http://localhost", "/"],
  // For HTTP/1.0 without a host, the URL is the request target.
  ["/api/v1/hosts?u=http://elsewhere/forged/path", "/api/v1/hosts"],
  ["/api/v1/hosts", "/api/v1/hosts"],
])("the request path of %s is %s", (url, path) => expect(pathOf(url)).toBe(path));
