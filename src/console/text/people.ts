// Texts of the people page.

import { groupedDigits } from "./digits.ts";
import { isolated } from "./isolated.ts";

export const peopleText = {
  says: "Who may sign in, what they may do, and which networks they reach. You can't grant or revoke a role higher than your own.",
  newOne: "New user",
  added: (name: string) =>
    `${isolated(name)} can sign in now. Tell them the password; they change it under Settings, Account.`,
  saved: (name: string) => `${isolated(name)} was saved.`,
  deleted: (name: string) => `${isolated(name)} was deleted.`,
  save: "Save",
  name: "Name",
  email: "E-mail",
  role: "Role",
  reach: "Networks",
  state: "State",
  lastLogin: "Last sign-in",
  never: "never",
  you: "you",
  editTitle: (name: string) => `Edit ${isolated(name)}`,
  password: "Password, 10 characters or more",
  newPassword: "New password (leave empty to keep the current one)",
  newPasswordSays: "Another password ends all their sessions. Their API keys stay valid.",
  ownPassword: "Your own password is changed under Account.",
  isEnabled: "May sign in",
  disableSays:
    "If you untick this, their sessions end and their API keys stop working at once. Tick it again, and the keys work again.",
  networksSay: "An Owner or Admin reaches all networks, whatever is chosen here.",
  deleteTitle: (name: string) => `Delete ${isolated(name)}`,
  deleteVerb: "Delete the user",
  deleteKeys: (count: number) =>
    count === 0
      ? "They have no API keys."
      : `${count === 1 ? "Their API key is" : `Their ${groupedDigits(count)} API keys are`} deleted as well, at once.`,
  deleteSays: [
    "Their sessions end. This cannot be undone: a user who is added again has a new id and needs new keys.",
    "History keeps their name. To suspend a user, edit them and untick “May sign in”.",
  ],
} as const;
