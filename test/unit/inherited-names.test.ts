// Inherited property names of JavaScript objects in lookups by untrusted names.

import { describe, expect, test } from "bun:test";
import { fieldValueOf } from "../../src/base/custom-field-names.ts";
import { ownValue } from "../../src/base/fields.ts";
import { valueIn } from "../../src/console/forms/field.ts";
import { recordPage } from "../../src/console/names/record-page.ts";
import { ownValue as ownValueOfConsole } from "../../src/console/text/own-value.ts";
import { ifTypeOf } from "../../src/importers/netbox/interface-types.ts";

describe.each(Object.getOwnPropertyNames(Object.prototype))("%s", (name) => {
  test("is unset on objects that do not define it", () => {
    const defined: Record<string, string> = JSON.parse(`{"${name}":"given"}`);
    for (const lookup of [ownValue, ownValueOfConsole]) {
      expect([lookup({}, name), lookup(null, name), lookup(undefined, name)]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
      expect(lookup(defined, name)).toBe("given");
    }
  });

  test("is not an interface type, record field, custom field or page", () => {
    expect(ifTypeOf(name)).toBe(1);
    expect(fieldValueOf({}, name)).toBeUndefined();
    expect(fieldValueOf({ custom_fields: {} }, `custom_fields.${name}`)).toBeUndefined();
    expect(valueIn({}, { name })).toBeUndefined();
    expect(valueIn({ custom_fields: {} }, { name: `custom_fields.${name}` })).toBeUndefined();
    expect(recordPage(name, "1")).toBeNull();
  });
});
