// UI strings for search.

// Created on demand: the first formatter noticeably delays page load.
export const percent = (share: number) => new Intl.NumberFormat("en", { style: "percent" }).format(share);

export const findText = {
  hint: "Try an IP, MAC, host name, port, or VLAN – in any format: 10.2.3.4, 001b.21aa.bbcc, core-1 gi1/0/7, vlan 120.",
} as const;
