// Texts of the claim page.

export const claimText = {
  title: "Claim this appliance",
  intro:
    "It has no owner yet. Enter your name and a name for your network; four short steps then lead to its first map.",
  fields: {
    setup_token: "Set-up token",
    name: "Your name",
    email: "E-mail",
    password: "Password",
    organization_name: "Organization",
    network_name: "Network",
  },
  defaults: { organization: "My organization", network: "Main" },
  tokenHelp: "Where netledger was started, it printed a link that begins with “Claim it”: open it, or paste it here.",
  wrongToken: "This is not the token of the running appliance. Each start prints a new one: take the last.",
  nameHelp: "As others see it in the history. Optional.",
  emailHelp: "You sign in with it. Nothing is sent to it.",
  passwordHelp: (least: number) => `At least ${least} characters. A sentence is easy to keep.`,
  networkHelp: "A site, or all you look after. More can be added, and every name can be changed.",
  claim: "Claim it",
  claiming: "Claiming…",
  unsure: "It is not known whether it was claimed. Trying again does no harm: what is claimed stays as it is.",
  demoTitle: "Look around in the demo first",
  demo: "A made-up campus with a month of history, in a folder of its own. In a terminal; it prints how to sign in:",
} as const;
