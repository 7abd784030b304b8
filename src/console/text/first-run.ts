// Texts of the first-run wizard: this machine, what to scan, credentials, and the first scan.

export const wayText = {
  question: {
    machine: "What does this machine see of itself?",
    where: "What should be scanned?",
    credentials: "Which credentials may be used?",
    scan: "The first scan",
  },
  reason: "Get started",
} as const;

/** Reasons why a subnet is not preselected. */
export const DOUBTS = {
  loopback: "only this machine is in it",
  containers: "made for containers or virtual machines of this machine",
  tunnel: "a tunnel: what is behind it may not be yours",
  elsewhere: "beyond your own network, by its type",
  public: "public addresses: tick it if they are yours",
  large: "large: it takes a while",
  huge: "more than one scan takes: name parts of it below",
  ipv6: "too many addresses to ask one by one: name parts of it below",
} as const;
export type Doubt = keyof typeof DOUBTS;
