// What a range of addresses is for.

export const RANGE_PURPOSES = ["Dhcp", "Reserved", "Static", "Gateway", "Other"] as const;

export type RangePurpose = (typeof RANGE_PURPOSES)[number];

/** Those that have their addresses for themselves: no two of them share one. */
export const CLAIMING_PURPOSES: readonly RangePurpose[] = ["Dhcp", "Reserved"];
