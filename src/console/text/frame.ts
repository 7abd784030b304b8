// UI strings for the page frame, which surrounds every page.

export const frameText = {
  newVersion: "The appliance was updated while this page was open.",
} as const;
