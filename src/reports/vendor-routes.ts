// Route of GET /api/v1/vendors/{mac}: vendor and type of a MAC address.

import { type Static, Type } from "@sinclair/typebox";
import { type Access, type Actor, VIEWER } from "../access/actor.ts";
import { parseMacPrefix } from "../base/mac.ts";
import { macTold, registered } from "../base/vendors/vendor.ts";
import type { Surface } from "../http/surface.ts";
import { metaAt, successBody } from "../schemas/envelope.ts";
import { macToldFields } from "../schemas/mac-fields.ts";
import { defineFormat, Nullable } from "../schemas/schemas.ts";

/** Longest notation of an address, with separators between octets. */
const MAC_PREFIX_MAX_LENGTH = 17;

defineFormat("mac-prefix", {
  parse: parseMacPrefix,
  sentence: "must be a MAC address, or at least its first six digits, such as 00:1b:21:aa:bb:cc or 001b21",
});

const MacVendor = Type.Object(
  {
    mac_address: Type.String({ description: "As asked, in lower case with colons." }),
    prefix: Nullable(Type.String(), { description: "The registered block: its first 24, 28 or 36 bits." }),
    ...macToldFields,
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
        "From the IEEE's registry at build time; no request leaves the machine. The longest registered block that contains the address counts: of fewer digits than nine, only blocks as large as that.",
      group: "Questions",
      access: VIEWER,
      params: Type.Object({
        mac: Type.String({
          format: "mac-prefix",
          maxLength: MAC_PREFIX_MAX_LENGTH,
          description: "In any notation, from the first six digits on.",
        }),
      }),
      answer: MacVendor,
      isRecord: false,
      example: { parameters: { mac: "001b.21aa.bbcc" }, data: EXAMPLE },
    },
    (call) =>
      new Response(successBody(JSON.stringify(vendorAnswer(call.params.mac)), metaAt(null)), {
        headers: { ...call.headers, "content-type": "application/json" },
      }),
  );
}

function vendorAnswer(mac: string): Static<typeof MacVendor> {
  const block = registered(mac);
  return {
    mac_address: mac,
    prefix: block === null ? null : block.prefix.replace(/(..)(?=.)/g, "$1:"),
    ...macTold(mac),
  };
}
