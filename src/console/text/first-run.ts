// UI strings for the first-run wizard: this machine, what to scan, credentials, and the first scan.

export const wizardText = {
  question: {
    machine: "Record this machine?",
    where: "What should be scanned?",
    credentials: "Which credentials may be used?",
    scan: "The first scan",
  },
  reason: "Get started",
} as const;

/** Reasons why a subnet is not preselected. */
export const SKIP_REASONS = {
  loopback: "contains only this machine",
  containers: "for containers or virtual machines on this machine",
  tunnel: "a tunnel: the network behind it may not be yours",
  elsewhere: "outside your own network, by its type",
  public: "public addresses: select it if they are yours",
  large: "large: takes a while",
  huge: "too large for one scan: enter parts of it below",
  ipv6: "too many addresses to scan one by one: enter parts of it below",
} as const;
export type SkipReason = keyof typeof SKIP_REASONS;
