// Texts of the organization page.

export const organizationText = {
  says: "All data belong to your organization and are visible to it alone.",
  name: "Name",
  reasons: "Reasons",
  demanded: "Every change needs a reason",
  free: "A reason can be given with every change, and need not be.",
  edit: "Edit the organization",
  editSays: [
    "A change of the organization cannot be undone by its transaction, as others can. To go back, edit it again.",
  ],
  demand: "Demand a reason for every change",
  demandHelp:
    "From then on, whatever people and API keys change without X-Change-Reason is refused, and nothing is written: programs that give none stop being able to write. Scans, this machine's commands and people's own passwords, sessions and preferences need none.",
  save: "Save",
  saved: "Saved.",
  unchanged: "Nothing was changed.",
  ofOwners: "Owners can change this.",
  history: "History",
} as const;
