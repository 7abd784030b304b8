// Detection of secrets in URLs.

import { describe, expect, test } from "bun:test";
import { generateApiKey } from "../../src/access/api-key.ts";
import { carriesSecret, withoutSecrets } from "../../src/http/url-secrets.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

const KEY = generateApiKey(seededRandom(3));
const SECRET_NAMES = [
  ..."key api_key apikey api-key x-api-key token access_token setup_token authorization session_id".split(" "),
  ..."password new_password current_password secret client_secret API_KEY key[] %6bey".split(" "),
];
const encode = (text: string) => [...text].map((character) => `%${character.charCodeAt(0).toString(16)}`).join("");

describe("a URL", () => {
  test.each([
    ["a key as a parameter", `/api/v1/hosts?api_key=${KEY}`],
    ["a key under any name", `/api/v1/hosts?x=${KEY}`],
    ["a key without a name", `/api/v1/hosts?${KEY}`],
    ["a key in the path", `/api/v1/hosts/${KEY}`],
    ["most of a key", `/api/v1/hosts/${KEY.slice(0, 20)}`],
    ["a key after a number sign", `/api/v1/hosts#${KEY}`],
    ["an encoded key", `/api/v1/hosts?x=${encode(KEY)}`],
    ["a partly encoded key", `/api/v1/hosts/nlk%5f${KEY.slice(4)}`],
    ["a doubly encoded key", `/api/v1/hosts/${encode(encode(KEY))}`],
    ["a key after a malformed escape", `/api/v1/hosts/%ff%zz?x=${encode(KEY)}`],
    ...SECRET_NAMES.map((name): [string, string] => [`a parameter ${name}`, `/api/v1/hosts?limit=1&${name}=hunter2`]),
  ])("contains a secret if it has %s", (_case, url) => {
    expect(carriesSecret(`http://localhost${url}`)).toBe(true);
    expect(withoutSecrets(url)).toBe("[hidden]");
  });

  test.each([
    "/api/v1/hosts?limit=50&offset=10&at=2026-11-21T09%3A15%3A00%2B01%3A00",
    "/api/v1/hosts?search=nlk_Ab3d",
    "/api/v1/auth/keys/0192f0c1-2345-7000-8000-000000000000/rotate",
    "/api/v1/hosts?search=key%3D5&order_by=name",
    "/api/v1/hosts?search=100%25",
    "/api/v1/hosts?search=a%26key%3D5",
    "/api/v1/hosts?monkey=1",
    "/api/v1/hosts?search=http://switch/?key=1",
  ])("contains no secret if it is like %s", (url) => {
    expect(carriesSecret(`http://localhost${url}`)).toBe(false);
    expect(withoutSecrets(url)).toBe(url);
  });
});
