// Texts shared by the people and API key pages: roles, networks, states of accounts and keys.

export const rightsText = {
  roles: {
    Owner: "Owner: everything, other Owners and the organization too",
    Admin: "Admin: also networks, tags, credentials, people",
    Member: "Member: writes the inventory, scans",
    Viewer: "Viewer: reads",
  },
  enabled: "Enabled",
  disabled: "Disabled",
  allNetworks: "all",
  noNetworks: "none",
  why: "Why (kept in history)",
  changedMeanwhile: "Others changed it meanwhile. Saving again overwrites that with what stands here.",
  edit: "Edit",
  delete: "Delete",
} as const;
