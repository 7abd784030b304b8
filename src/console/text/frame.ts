// Texts of the page frame: navigation, sign-in, and elements of every page.

export const frameText = {
  newVersion: "The appliance was updated while this page was open.",
} as const;
