import { describe, expect, test } from "bun:test";
import type { Issue } from "../../src/base/errors.ts";
import { changeReason } from "../../src/http/change-reason.ts";
import { CHANGE_REASON_MAX_LENGTH } from "../../src/schemas/schemas.ts";

/** Reads a header with these bytes as delivered by the server: one character per byte. */
function read(bytes: string | Uint8Array): { reason: string | null; issues: Issue[] } {
  const issues: Issue[] = [];
  const headers = new Headers({ "x-change-reason": Buffer.from(bytes as string).toString("latin1") });
  return { reason: changeReason(headers, issues), issues };
}

describe("a reason", () => {
  test.each([
    ["CHG-4711: move the uplink", "CHG-4711: move the uplink"],
    ["  two  words\t", "two  words"],
    ["Größerer Umbau, 変更, 😀", "Größerer Umbau, 変更, 😀"],
    ["UTF-8''Gr%C3%B6%C3%9Ferer%20Umbau%20%F0%9F%98%80", "Größerer Umbau 😀"],
    ["utf-8'de'%c3%9c", "Ü"],
    [`UTF-8''${encodeURIComponent("it's (100 %) *done*! ~ü")}`, "it's (100 %) *done*! ~ü"],
    ["UTF-8''plain words", "plain words"],
    ["UTF-8''%20trimmed%0D%0A", "trimmed"],
    ["100 % of it, %41", "100 % of it, %41"],
    ["ISO-8859-1''%FC", "ISO-8859-1''%FC"],
    ["see UTF-8''%41", "see UTF-8''%41"],
    ["x".repeat(CHANGE_REASON_MAX_LENGTH), "x".repeat(CHANGE_REASON_MAX_LENGTH)],
    [`UTF-8''${"%F0%9F%98%80".repeat(CHANGE_REASON_MAX_LENGTH)}`, "😀".repeat(CHANGE_REASON_MAX_LENGTH)],
  ])("%p is parsed as %p", (sent, reason) => expect(read(sent)).toEqual({ reason, issues: [] }));

  test.each(["", "  \t ", "UTF-8''", "UTF-8''%20%E2%80%82%EF%BB%BF"])("%p means no reason", (sent) => {
    expect(read(sent)).toEqual({ reason: null, issues: [] });
  });

  test("is absent without a header", () => {
    const issues: Issue[] = [];
    expect(changeReason(new Headers(), issues)).toBeNull();
    expect(issues).toEqual([]);
  });

  test.each<[string, string | Uint8Array, RegExp]>([
    ["in Latin-1", Buffer.from("Größe", "latin1"), /^must be UTF-8/],
    ["with an overlong encoding", Buffer.from([0x61, 0xc0, 0xaf]), /^must be UTF-8/],
    ["with half a surrogate pair", Buffer.from([0xed, 0xa0, 0x80]), /^must be UTF-8/],
    ["truncated within a character", Buffer.from("Grö").subarray(0, 3), /^must be UTF-8/],
    ["percent-encoded Latin-1", "UTF-8''Gr%F6%DFe", /^must be UTF-8/],
    ["with a lone percent sign", "UTF-8''100%", /^must be percent-encoded/],
    ["with invalid hexadecimal digits", "UTF-8''%zz", /^must be percent-encoded/],
    ["half encoded", "UTF-8''Gr%C3%B6ße", /^must be percent-encoded/],
    ["with a tab", "a\tb", /control characters/],
    ["with DEL", "a\u007fb", /control characters/],
    ["with a C1 control", "a\u0085b", /control characters/],
    ["with an encoded line feed", "UTF-8''a%0Ab", /control characters/],
    ["with an encoded NUL", "UTF-8''a%00b", /control characters/],
    ["with an encoded line separator", "UTF-8''a%E2%80%A8b", /control characters/],
    ["without visible characters", "UTF-8''%E2%80%8B%E2%80%8D", /blank/],
    ["too long", "x".repeat(CHANGE_REASON_MAX_LENGTH + 1), /at most 500 characters and has 501/],
    ["too long in characters, not bytes", "ö".repeat(CHANGE_REASON_MAX_LENGTH + 1), /and has 501/],
    ["with an API key", `use nlk_${"a".repeat(43)}`, /^must not contain an API key or a session's token$/],
    ["with an encoded API key", `UTF-8''use%20nlk%5F${"a".repeat(43)}`, /^must not contain an API key or/],
    ["with a session token", `session_id=${"aB".repeat(21)}A`, /^must not contain an API key or/],
  ])("%s is refused at /X-Change-Reason", (_how, sent, message) => {
    const { reason, issues } = read(sent);
    expect(reason).toBeNull();
    expect(issues).toEqual([
      expect.objectContaining({ path: "/X-Change-Reason", message: expect.stringMatching(message) }),
    ]);
    expect(JSON.stringify(issues)).not.toContain("nlk_a");
  });
});
