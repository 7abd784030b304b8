// Texts of the appliance status: facts, and remedies for concerns.

export const applianceText = {
  severities: { error: "Error", warning: "Warning" } as Readonly<Record<string, string>>,
} as const;
