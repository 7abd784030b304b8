// What the command palette says.

export const paletteText = {
  title: "Command palette",
  open: "Command palette",
  label: "A page, an action or a record",
  here: "On this page",
  goTo: "Go to",
  create: "Create",
  account: "Account",
  records: "Records",
  keys: "Keys",
  nothing: "Nothing matches.",
  count: (count: number) => `${new Intl.NumberFormat("en").format(count)} ${count === 1 ? "entry" : "entries"}`,
  gone: "gone",
  pages: {
    subnetList: "Subnets as a list",
    schedules: "Schedules",
    ignored: "What must not come back",
    account: "Account",
  },
  table: (many: string) => `Import ${many} from CSV`,
  signOut: "Sign out",
} as const;
