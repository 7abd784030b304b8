// Schemas of the fields that accompany a MAC address in responses.

import { Type } from "@sinclair/typebox";
import { MAC_TYPES } from "../base/mac.ts";
import { Nullable, OneOf } from "./schemas.ts";

export const MacVendorName = Nullable(Type.String(), {
  description: "Whom the IEEE registered its block for; null for addresses that software made up and for groups.",
});

/** Fields of MacTold. */
export const macToldFields = {
  vendor: MacVendorName,
  type: OneOf(MAC_TYPES, {
    description:
      "`LocallyAdministered`: made up by software, as phones and laptops do at random, and hypervisors and containers for their guests. `VirtualRouter`: moves between routers (VRRP, HSRP, GLBP).",
  }),
  known_use: Nullable(Type.String(), {
    description: "What it is known for: `VRRP virtual router 10`, `Docker container`, `LLDP (IEEE 802.1AB)`.",
  }),
};
