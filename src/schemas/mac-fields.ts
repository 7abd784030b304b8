// Schemas of the fields that accompany a MAC address in responses.

import { Type } from "@sinclair/typebox";
import { MAC_TYPES } from "../base/mac.ts";
import { Nullable, OneOf } from "./schemas.ts";

export const MacVendorName = Nullable(Type.String(), {
  description: "Owner of the address block (IEEE registry); null for locally administered and group addresses.",
});

/** Fields of MacInfo. */
export const macInfoFields = {
  vendor: MacVendorName,
  type: OneOf(MAC_TYPES, {
    description:
      "`LocallyAdministered`: assigned by software, at random by phones and laptops, and by hypervisors and containers to their guests. `VirtualRouter`: moves between routers (VRRP, HSRP, GLBP).",
  }),
  known_use: Nullable(Type.String(), {
    description: "Well-known use: `VRRP virtual router 10`, `Docker container`, `LLDP (IEEE 802.1AB)`.",
  }),
};
