// Route for GET /api/v1/vendors/{mac}: vendor and type of a MAC address.

import { type Static, Type } from "@sinclair/typebox";
import { type Access, type Actor, VIEWER } from "../access/actor.ts";
import { parseMacPrefix } from "../base/mac.ts";
import { findRegistration, macInfo } from "../base/vendors/vendor.ts";
import type { Surface } from "../http/surface.ts";
import { successResponse } from "../schemas/envelope.ts";
import { macInfoFields } from "../schemas/mac-fields.ts";
import { defineFormat, Nullable } from "../schemas/schemas.ts";

/** Longest notation of an address, with separators between octets. */
const MAC_PREFIX_MAX_LENGTH = 17;

defineFormat("mac-prefix", {
  parse: parseMacPrefix,
  sentence: "must be a MAC address, or at least its first six digits, such as 00:1b:21:aa:bb:cc or 001b21",
});

const MacVendor = Type.Object(
  {
    mac_address: Type.String({ description: "As requested, in lower case with colons." }),
    prefix: Nullable(Type.String(), { description: "The registered block: its first 24, 28 or 36 bits." }),
    ...macInfoFields,
  },
  { $id: "MacVendor" },
);

const EXAMPLE: Static<typeof MacVendor> = {
  mac_address: "00:1b:21:aa:bb:cc",
  prefix: "00:1b:21",
  vendor: "Intel Corporate",
  type: "Universal",
  known_use: null,
};

/** /api/v1/vendors/{mac}. */
export function vendorRoutes(surface: Surface<Actor, Access>): void {
  surface.get(
    "/api/v1/vendors/:mac",
    {
      operationId: "getVendor",
      summary: "Get the vendor of a MAC address",
      description:
        "From the IEEE's registry at build time; no request leaves the machine. The longest registered block that contains the address applies; with fewer than nine digits, only blocks of at most that length.",
      group: "Questions",
      access: VIEWER,
      params: Type.Object({
        mac: Type.String({
          format: "mac-prefix",
          maxLength: MAC_PREFIX_MAX_LENGTH,
          description: "In any notation; at least the first six digits.",
        }),
      }),
      responseSchema: MacVendor,
      isRecord: false,
      example: { parameters: { mac: "001b.21aa.bbcc" }, data: EXAMPLE },
    },
    (call) => successResponse(call, JSON.stringify(vendorBody(call.params.mac))),
  );
}

function vendorBody(mac: string): Static<typeof MacVendor> {
  const block = findRegistration(mac);
  return {
    mac_address: mac,
    prefix: block === null ? null : block.prefix.replace(/(..)(?=.)/g, "$1:"),
    ...macInfo(mac),
  };
}
