// What is said of the instant that is shown.

export const timeText = {
  instant: "Instant",
  now: "Now",
  past: "The past",
  asOf: "As of",
  backToNow: "Back to now",
  marker: (name: string) => `marker “${name}”`,
  notAnInstant: (text: string) => `“${text}” is no instant. Instants look like 2026-03-01T03:12:00Z.`,
} as const;
