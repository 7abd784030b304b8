// Purposes of an IP range.

export const RANGE_PURPOSES = ["Dhcp", "Reserved", "Static", "Gateway", "Other"] as const;

export type RangePurpose = (typeof RANGE_PURPOSES)[number];

/** Exclusive purposes: ranges with these must not overlap each other. */
export const EXCLUSIVE_PURPOSES: readonly RangePurpose[] = ["Dhcp", "Reserved"];
